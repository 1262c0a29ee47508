//! The TOML of the replayed policies.

use super::super::escape;
use super::series::PolicySeries;
use crate::results::saved::{PolicyText, Results};

/// Lists every policy as replayed, including settings from the command line.
pub fn definitions(results: &Results, series: &PolicySeries) -> String {
    let definition = |policy: &PolicyText| {
        let quirks: String = policy.quirks.iter().map(|quirk| format!("<li><bdi>{}</bdi></li>", escape::html(quirk))).collect();
        let quirks = if quirks.is_empty() {
            quirks
        } else {
            format!(r#"<p class="below">Known bugs of the original, reproduced:</p><ul>{quirks}</ul>"#)
        };
        format!(
            r#"<details{}><summary><bdi>{}</bdi></summary>{}{quirks}</details>"#,
            series.tag(&policy.name),
            escape::html(&policy.name),
            source(&policy.name, &policy.toml)
        )
    };
    results.policies.iter().map(definition).collect()
}

/// Renders a policy's TOML with a button that copies it.
pub fn source(name: &str, toml: &str) -> String {
    format!(
        r#"<div class="source"><button type="button" class="copy live" aria-label="Copy {}">Copy</button><pre tabindex="0"><code>{}</code></pre></div>"#,
        escape::html(name),
        escape::html_lines(toml)
    )
}
