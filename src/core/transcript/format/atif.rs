//! Agent trajectories in ATIF, versions 1.0 to 1.8: what harbor writes for every agent (`trajectory.json`).
//!
//! Each step of the agent is a call, unless it says that no model was asked (`llm_call_count` of 0) or that it repeats another
//! trajectory (`is_copied_context`). `prompt_tokens` includes the cached ones. If a step sums several calls, its usage is that of no
//! request and is left out. Compactions have no place in the format. Sub-agents in `subagent_trajectories` are conversations.

pub(crate) mod form;
mod own;

use serde_json::Value;
use serde_json::value::RawValue;

use super::batch::Stamp;
use super::head::Head;
use super::notes::Notes;
use super::timeline::Timeline;
use super::wire_usage::{self, Names};
use super::{Certainty, Format, Note, ReadOptions, Reading, document, jsonl};
use crate::transcript::conversation::{Call, Conversation, Identity, Origin};

/// The id of the format.
const NAME: &str = "atif";

/// The jobs of a benchmark are where its user puts them.
pub const FORMAT: Format = Format {
    name: NAME,
    about: "ATIF trajectories 1.0 to 1.8, as harbor writes them: trajectory.json",
    sniff,
    read,
    folders: &[],
    store: None,
};

const MARKS: &[&str] = &["schema_version^=ATIF", "steps.step_id steps.source"];

const NO_RESULT: &str = "[no result in the record]";

const USAGE: Names = Names {
    input: "prompt_tokens",
    includes_cached: true,
    cache_read: "cached_tokens",
    cache_write: "",
    output: &["completion_tokens"],
    reasoning: "",
};

fn sniff(head: &Head) -> Certainty {
    head.is_marked(MARKS).into()
}

fn read(bytes: &[u8], _: &ReadOptions) -> Reading {
    let mut notes = Notes::default();
    let Some(document) = document::read(bytes, "steps", usize::MAX) else {
        let why = "not a trajectory in ATIF: it is no document with `steps`";
        return Reading { conversations: Vec::new(), notes: vec![Note::skipped(1, why)] };
    };
    notes.lines.extend(document.note());
    let field = |key: &str, notes: &mut Notes| {
        let value = |raw: &RawValue| jsonl::values::<Value>(1, raw.get().as_bytes(), &mut notes.lines).into_iter().next();
        document.field(key).and_then(value).unwrap_or_default()
    };
    if document.field("continued_trajectory_ref").is_some_and(|other| other.get() != "null") {
        notes.lines.push(Note::info(1, "the session goes on in another file, which is a transcript of its own"));
    }
    let agent = field("agent", &mut notes);
    let identity = identity(&agent, document.text("session_id"));
    let model = agent["model_name"].as_str();
    let mut steps = Vec::new();
    for (line, raw) in &document.messages {
        let values = jsonl::values(*line, raw.get().as_bytes(), &mut notes.lines);
        steps.extend(values.into_iter().map(|step: Value| (*line, step)));
    }
    let mut conversations = Vec::new();
    if steps.iter().any(|(_, step)| own::is_own(step)) {
        let extra = field("extra", &mut notes);
        let read = own::conversation("main".to_owned(), identity, model, &extra, &steps, &mut notes);
        return Reading { conversations: read.into_iter().collect(), notes: notes.finish() };
    }
    conversations.extend(conversation("main".to_owned(), identity.clone(), model, &steps, &mut notes));
    let others = field("subagent_trajectories", &mut notes);
    for (n, other) in others.as_array().into_iter().flatten().enumerate() {
        let id = ["trajectory_id", "session_id"].iter().find_map(|key| other[*key].as_str());
        // `~2` marks another branch of a conversation.
        let name = format!("agent-{}-{}", n + 1, id.unwrap_or_default().replace('~', "-"));
        let steps: Vec<_> = other["steps"].as_array().into_iter().flatten().map(|step| (1, step.clone())).collect();
        let agent = &other["agent"];
        let identity = self::identity(agent, id.map(str::to_owned)).started_by(identity.session.clone());
        let name = name.trim_end_matches('-').to_owned();
        conversations.extend(conversation(name, identity, agent["model_name"].as_str(), &steps, &mut notes));
    }
    Reading { conversations, notes: notes.finish() }
}

/// Converts the `agent` of a trajectory. harbor writes `unknown` for a version that it does not know.
fn identity(agent: &Value, session: Option<String>) -> Identity {
    let [agent, version] = ["name", "version"].map(|key| agent[key].as_str().map(str::to_owned));
    Identity { agent, version: version.filter(|version| version != "unknown"), session, ..Identity::default() }
}

fn conversation(
    name: String,
    identity: Identity,
    model: Option<&str>,
    steps: &[(u32, Value)],
    notes: &mut Notes,
) -> Option<Conversation> {
    let mut timeline = Timeline::new(name, NAME, NO_RESULT, notes);
    timeline.builder.set_identity(identity);
    for (i, (line, step)) in steps.iter().enumerate() {
        let at = Stamp::parsed(*line, step["timestamp"].as_str());
        timeline.begin(i, at);
        match step["source"].as_str().unwrap_or("unknown") {
            "user" => blocks(&step["message"], at, timeline.notes).into_iter().for_each(|wire| timeline.user(wire, Origin::User)),
            "system" => {
                let wires = blocks(&step["message"], at, timeline.notes);
                match (wires.as_slice(), i) {
                    ([only], 0) if only["type"] == "text" => {
                        timeline.builder.set_system(only["text"].as_str().unwrap_or_default());
                    }
                    _ => wires.into_iter().for_each(|wire| timeline.user(wire, Origin::Injected)),
                }
                observation(step, at, &mut timeline);
            }
            "agent" => {
                response(step, model, at, &mut timeline);
                observation(step, at, &mut timeline);
            }
            other => {
                let other = crate::util::text::head(other, 40);
                timeline.notes.kind(Note::skipped(at.line, format!("steps of the unknown source `{other}` are not read")));
            }
        }
    }
    timeline.finish()
}

fn response(step: &Value, model: Option<&str>, at: Stamp, timeline: &mut Timeline) {
    let wires = form::read_response(step, &mut |kind| unknown(kind, at, timeline.notes));
    let calls = step["llm_call_count"].as_u64();
    if calls == Some(0) || step["is_copied_context"] == true {
        return timeline.earlier_response(wires);
    }
    let usage = wire_usage::named(&step["metrics"], &USAGE, at.line, timeline.notes);
    if usage.is_some() && calls > Some(1) {
        timeline.notes.kind(Note::info(at.line, "a step sums the usage of several calls; it was left out"));
    }
    let model = step["model_name"].as_str().or(model).map(str::to_owned);
    timeline.response(wires, Call { usage: usage.filter(|_| calls <= Some(1)), model, ..Call::default() });
}

/// Adds the results of a step. One that names no call is of the only call of its step, or else text of the harness.
fn observation(step: &Value, at: Stamp, timeline: &mut Timeline) {
    let only = step["tool_calls"].as_array().filter(|calls| calls.len() == 1).and_then(|calls| calls[0]["tool_call_id"].as_str());
    for result in step["observation"]["results"].as_array().into_iter().flatten() {
        match result["source_call_id"].as_str().or(only) {
            Some(id) => {
                let content = form::read_result(&result["content"], &mut |kind| unknown(kind, at, timeline.notes));
                timeline.result(id, content, None);
            }
            None => {
                blocks(&result["content"], at, timeline.notes).into_iter().for_each(|wire| timeline.user(wire, Origin::Injected))
            }
        }
    }
}

/// Converts a message: a text, or a list of texts, images and sounds.
fn blocks(message: &Value, at: Stamp, notes: &mut Notes) -> Vec<Value> {
    form::read_parts(message, &mut |kind| unknown(kind, at, notes))
}

fn unknown(kind: &str, at: Stamp, notes: &mut Notes) {
    let kind = crate::util::text::head(kind, 40);
    notes.kind(Note::info(at.line, format!("parts of the type `{kind}` are not read")));
}

#[cfg(test)]
mod tests {
    use super::super::Branches;
    use super::super::shape::{read as read_file, read_one};
    use super::*;
    use serde_json::json;

    fn trajectory(more: Value, steps: Value) -> String {
        let mut root = json!({"schema_version": "ATIF-v1.7", "agent": {"name": "a", "model_name": "m1"}, "steps": steps});
        if let (Value::Object(root), Value::Object(more)) = (&mut root, more) {
            root.extend(more);
        }
        root.to_string()
    }

    fn call(id: &str) -> Value {
        json!({"tool_call_id": id, "function_name": "run", "arguments": {}})
    }

    #[test]
    fn steps_are_messages_and_calls() {
        let metrics = json!({"prompt_tokens": 100, "cached_tokens": 60, "completion_tokens": 7});
        let image = json!({"type": "image", "source": {"media_type": "image/png", "path": "a.png"}});
        let steps = json!([
            {"step_id": 1, "source": "system", "message": "Be brief."},
            {"step_id": 2, "source": "user", "message": [{"type": "text", "text": "Boil it."}, image, {"type": "audio"}]},
            {"step_id": 3, "source": "agent", "message": "Before.", "is_copied_context": true, "metrics": metrics},
            {"step_id": 4, "source": "agent", "message": "I look.", "reasoning_content": "hm", "tool_calls": [call("c1"), call("c2")],
                "observation": {"results": [{"source_call_id": "c2", "content": "Exit code: 1"}, {"content": "lost"}]}, "metrics": metrics},
            {"step_id": 5, "source": "system", "message": "be quick"},
            {"step_id": 6, "source": "agent", "message": "", "tool_calls": [call("c3")], "observation": {"results": [{"content": "hot"}]},
                "metrics": metrics, "llm_call_count": 2},
            {"step_id": 7, "source": "agent", "message": "Done."},
        ]);
        let other = json!([{"trajectory_id": "t2", "steps": [{"source": "user", "message": "Help."}, {"source": "agent", "message": "I do."}]}]);
        let text = trajectory(json!({"subagent_trajectories": other}), steps);
        let reading = read_file(&FORMAT, &text, Branches::Last);
        let main = &reading.conversations[0];
        assert_eq!(
            super::super::shape::lines(main),
            [
                "u: Boil it. [image]",
                "a: Before.",
                "a: {hm} I look. [c1 run] [c2 run]",
                "u: [c1 ? [no result in the record]] [c2 ! Exit code: 1] (lost) (be quick)",
                "a: [c3 run]",
                "u: [c3 = hot]",
                "a: Done.",
            ]
        );
        let usages: Vec<_> =
            main.calls.iter().map(|call| call.usage.map(|usage| [usage.input, usage.cache_read, usage.output])).collect();
        assert_eq!(usages, [Some([40, 60, 7]), None, None]);
        assert_eq!((main.system.as_deref(), main.calls[0].model.as_deref()), (Some("Be brief."), Some("m1")));
        assert_eq!(reading.conversations[1].name, "agent-1-t2");
        let notes: Vec<&str> = reading.notes.iter().map(|note| note.what.as_str()).collect();
        assert!(notes.contains(&"a step sums the usage of several calls; it was left out"), "{notes:?}");
        assert!(notes.contains(&"parts of the type `audio` are not read"), "{notes:?}");
    }

    #[test]
    fn a_cut_trajectory_keeps_its_first_steps() {
        let steps = json!([{"source": "user", "message": "Boil it."}, {"source": "agent", "message": "Done."}]);
        let text = trajectory(json!({}), steps);
        let (lines, notes) = read_one(&FORMAT, &text[..text.find("Done").expect("the step")]);
        assert_eq!((lines.len(), notes.len()), (1, 1), "{notes:?}");
    }
}
