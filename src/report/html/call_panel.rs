//! The place below the plot of calls where the script shows one call: what layers did before it under each policy, and the command
//! that prints its request.
//!
//! The page holds only some requests: those of all calls would be many times as large as the transcripts, and saved results have none.
//! `recompact show` prints each of them from the transcript.

use maud::{Markup, html};
use serde_json::Value;

use super::super::escape::terminal;
use super::requests;
use super::series::PolicySeries;
use crate::analysis::spec::preset_text;
use crate::results::saved::{Results, TraceRow};
use crate::util::text::shell_word;

/// Name of a conversation that `recompact show` takes without being asked to: the only one of most transcripts.
const MAIN: &str = "main";
/// Options of a study that change its requests, with the value that need not be written.
const OPTIONS: [(&str, &str); 4] = [("window", ""), ("overhead", ""), ("tokenizer", "own"), ("thinking", "")];

/// Renders the place; it is hidden until a call is chosen.
pub fn place(results: &Results, series: &PolicySeries) -> Markup {
    let (requests, which) = requests::draw(results, series);
    html! {
        (requests)
        div id="call" class="card" hidden {
            div class="chooser" {
                h3 id="call-title" tabindex="-1" {}
                button type="button" data-step="-1" aria-label="Previous call" { "←" }
                button type="button" data-step="1" aria-label="Next call" { "→" }
                button type="button" data-edit="-1" { "Previous edit" }
                button type="button" data-edit="1" { "Next edit" }
                button type="button" id="call-close" { "Close" }
            }
            div class="scroll" tabindex="0" role="region" aria-label="The call under each policy" {
                table {
                    thead {
                        tr {
                            th scope="col" { "policy" }
                            th scope="col" class="n" { "~tokens" }
                            th scope="col" { "edits before this call" }
                        }
                    }
                    tbody id="call-rows" {}
                }
            }
            div class="chooser" {
                label for="call-policy" { "Print the request under" }
                select id="call-policy" {}
            }
            div id="call-request" hidden {
                button type="button" class="group" id="whole-request" aria-pressed="false" { "Also what is as recorded" }
                div class="scroll only-changed" tabindex="0" role="region" aria-label="The request" {}
                p class="below" { "Grey and struck: what was recorded and is not in the request." }
            }
            div class="source of-command" {
                button type="button" class="copy" aria-label="Copy the command" { "Copy" }
                pre tabindex="0" { code id="call-command" {} }
            }
            p class="below" { bdi { (terminal(&which)) } }
            p class="below of-command" {
                "This command prints the request from the transcript: what the model would read, and what was cleared, moved or \
                 summarised beside the original. With " code { "--diff" } " it prints only what changed since \
                 the call before."
                span id="call-file" { " Save the text of the policy (see " a href="#definitions" { "Policies as replayed" } ") as " code { "policy.toml" } " first." }
            }
        }
    }
}

/// The beginning of the command that prints requests of a conversation.
pub fn command(row: &TraceRow) -> String {
    let conversation = match &*row.conversation {
        MAIN => String::new(),
        name => format!(" --conversation {}", shell_word(name)),
    };
    terminal(&format!("recompact show {}{conversation}", shell_word(&row.transcript))).into_owned()
}

/// The options that give a policy as it was replayed: its name if it is an unchanged preset, else a file with its text.
pub fn arguments(results: &Results, policy: &str) -> String {
    let text = results.policies.iter().find(|text| text.name == policy).map(|text| &text.toml);
    let is_unchanged = preset_text(policy).is_some_and(|original| text.is_none_or(|text| *text == original));
    let policy = if is_unchanged { policy } else { "policy.toml" };
    let spec = results.study.as_ref().map(|study| &study.spec);
    let option = |(name, usual): &(&str, &str)| {
        let value = match spec?.get(*name)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        (value != *usual).then(|| format!(" --{name} {}", shell_word(&value)))
    };
    let options: String = OPTIONS.iter().filter_map(option).collect();
    terminal(&format!("-p {}{options}", shell_word(policy))).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::saved::{PolicyText, StudyRecord};

    #[test]
    fn command_prints_the_request_of_the_replay() {
        let row = |transcript: &str, conversation: &str| {
            command(&TraceRow { transcript: transcript.into(), conversation: conversation.into(), ..TraceRow::default() })
        };
        assert_eq!(row("runs/a.jsonl", "main"), "recompact show runs/a.jsonl");
        assert_eq!(row("my runs/a.jsonl", "agent-1"), "recompact show 'my runs/a.jsonl' --conversation agent-1");
        let study =
            |spec: &str| Some(StudyRecord { spec: serde_json::from_str(spec).expect("an object"), ..StudyRecord::default() });
        let mut results = Results { study: study(r#"{"window":null,"tokenizer":"own"}"#), ..Results::default() };
        assert_eq!(arguments(&results, "claude-code"), "-p claude-code");
        results.study = study(r#"{"window":100000,"tokenizer":"o200k"}"#);
        assert_eq!(arguments(&results, "claude-code"), "-p claude-code --window 100000 --tokenizer o200k");
        results.policies =
            vec![PolicyText { name: "claude-code".into(), toml: "name = \"claude-code\"\n".into(), ..PolicyText::default() }];
        results.study = None;
        assert_eq!(arguments(&results, "claude-code"), "-p policy.toml");
    }
}
