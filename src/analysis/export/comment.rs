//! The comment above a configuration.

use super::{ExportRequest, Target};
use crate::engine::policy::{Tuning, preset};
use crate::util::text::{plural, were, wrap};

/// Longest line, without what a language puts before it.
const WIDTH: usize = 96;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Says what the configuration is, how its numbers were chosen, where it belongs, and what is not in it. `window` is the context
/// window that sizes depend on, if they do.
pub fn comment(target: &Target, request: &ExportRequest, window: Option<u64>, left_out: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |begin: &str, text: &str| add(&mut lines, begin, text);
    add("", &format!("{}: policy `{}`, written by recompact {VERSION}.", target.about, request.policy.name));
    add("", format!("{} {}", origin(request), request.origin).trim_end());
    if let Some(window) = window {
        let of_sessions = match request.windows {
            [own] if request.window.is_none() => format!(", which {} had", plural(own.sessions, "session")),
            _ => String::new(),
        };
        add("", &format!("For a context window of {window} tokens{of_sessions}; --window computes it for another."));
    }
    add("", &target.place);
    add("", &format!("Names of settings: {}.", target.checked));
    if !left_out.is_empty() {
        add("", "Left out, because it cannot be expressed:");
    }
    left_out.iter().for_each(|left_out| add("- ", left_out));
    lines
}

/// Says why nothing is set.
pub fn nothing(target: &Target, why: &str) -> Vec<String> {
    let mut lines = Vec::new();
    add(&mut lines, "", &format!("{}: no setting is changed, written by recompact {VERSION}.", target.about));
    add(&mut lines, "", why);
    lines
}

fn add(lines: &mut Vec<String>, begin: &str, text: &str) {
    // A name comes from a file: it must not end the comment.
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    lines.extend(wrap(begin, &text, WIDTH).lines().map(str::to_owned));
}

/// Says on how many sessions the numbers were chosen.
fn origin(request: &ExportRequest) -> String {
    let changes: Vec<&str> = request.changed.iter().map(|setting| setting.written.as_str()).collect();
    let changed = if changes.is_empty() { String::new() } else { format!(" Changed by hand since: {}.", changes.join(", ")) };
    match request.tuned {
        Some(Tuning { of, sessions, held_out, configurations, .. }) => {
            let held_out = match held_out {
                0 => "no session was held out to confirm it".to_owned(),
                held_out => {
                    format!("compared once more on {} that {} held out", plural(*held_out, "other session"), were(*held_out))
                }
            };
            let (chosen, from) = (plural(*sessions, "session"), plural(*configurations, "configuration"));
            format!("Chosen on {chosen} from {from} in a sweep of `{of}`; {held_out}.{changed}")
        }
        None if !changes.is_empty() => format!("Not tuned: set by hand ({}).", changes.join(", ")),
        None if preset(&request.policy.name).is_some() => "Not tuned: the numbers of the preset.".to_owned(),
        None => "Not tuned: no sweep chose these numbers.".to_owned(),
    }
}
