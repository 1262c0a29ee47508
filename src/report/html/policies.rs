//! The TOML of the replayed policies.

use maud::{Markup, html};

use super::super::escape::{terminal, terminal_lines};
use super::figure::inner;
use super::series::PolicySeries;
use crate::results::saved::{PolicyText, Results};

/// Lists every policy as replayed, including settings from the command line.
pub fn definitions(results: &Results, series: &PolicySeries) -> Markup {
    html! {
        @for policy in &results.policies {
            details data-p=[series.index_of(&policy.name)] {
                summary { (series.name(&policy.name)) }
                (inner(&definition(policy)))
            }
        }
    }
}

fn definition(policy: &PolicyText) -> Markup {
    html! {
        (source(&policy.name, &policy.toml))
        @if !policy.known_bugs.is_empty() {
            p class="below" { "Known bugs of the original, reproduced:" }
            ul {
                @for quirk in &policy.known_bugs {
                    li { bdi { (terminal(quirk)) } }
                }
            }
        }
    }
}

/// Renders a policy's TOML with a button that copies it.
pub fn source(name: &str, toml: &str) -> Markup {
    html! {
        div class="source" {
            button type="button" class="copy live" aria-label={ "Copy " (terminal(name)) } { "Copy" }
            pre tabindex="0" { code { (terminal_lines(toml)) } }
        }
    }
}
