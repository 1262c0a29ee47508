//! The policies themselves, as they were replayed.

use super::super::escape;
use super::series::PolicySeries;
use crate::results::saved::{PolicyText, Results};

/// Every policy as it was replayed, settings from the command line included.
pub fn definitions(results: &Results, cast: &PolicySeries) -> String {
    let one = |policy: &PolicyText| {
        let quirks: String = policy.quirks.iter().map(|quirk| format!("<li><bdi>{}</bdi></li>", escape::html(quirk))).collect();
        let quirks = if quirks.is_empty() {
            quirks
        } else {
            format!(r#"<p class="below">Quirks of the original, kept:</p><ul>{quirks}</ul>"#)
        };
        format!(
            r#"<details{}><summary><bdi>{}</bdi></summary>{}{quirks}</details>"#,
            cast.tag(&policy.name),
            escape::html(&policy.name),
            source(&policy.name, &policy.toml)
        )
    };
    results.policies.iter().map(one).collect()
}

/// A policy's text, and a button that copies it.
pub fn source(name: &str, toml: &str) -> String {
    format!(
        r#"<div class="source"><button type="button" class="copy live" aria-label="Copy {}">Copy</button><pre tabindex="0"><code>{}</code></pre></div>"#,
        escape::html(name),
        escape::html_lines(toml)
    )
}
