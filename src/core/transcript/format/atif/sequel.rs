//! Sessions that go on in further files, as harbor's Terminus 2 writes them when it summarizes: `trajectory.json`, `trajectory.cont-1.json`,
//! and so on. Each names the next one (`continued_trajectory_ref`). The next one begins with the whole context after the summary, as steps
//! that repeat others (`is_copied_context`): to a session, that is a compaction.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::form;
use crate::transcript::conversation::{Message, Origin, Role};
use crate::transcript::format::document;
use crate::transcript::format::timeline::{Details, Timeline};

/// The field that names the next file.
pub const NEXT: &str = "continued_trajectory_ref";

/// Before the number of a further file, in its name and in its session.
const CONTINUED: [&str; 2] = [".cont-", "-cont-"];

/// Returns the name of the file in which the session goes on.
pub fn next(bytes: &[u8]) -> Option<String> {
    // Few files have the field, and a search is much quicker than parsing.
    memchr::memmem::find(bytes, NEXT.as_bytes())?;
    document::read(bytes, "steps", usize::MAX)?.text(NEXT)
}

/// Returns the name of the file before one of this name.
pub fn before(name: &str) -> Option<String> {
    let (stem, number) = name.strip_suffix(".json")?.rsplit_once(CONTINUED[0])?;
    match number.parse::<u32>().ok().filter(|parsed| parsed.to_string() == number)? {
        0 => None,
        1 => Some(format!("{stem}.json")),
        number => Some(format!("{stem}{}{}.json", CONTINUED[0], number - 1)),
    }
}

/// Returns the session of the first file: each further one has its name with a number.
pub fn first_session(session: &str) -> &str {
    let is_number = |end: &str| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    session.rsplit_once(CONTINUED[1]).filter(|(_, end)| is_number(end)).map_or(session, |(first, _)| first)
}

/// Returns how many steps at the beginning of a further file are the context that it begins with.
pub fn copied(steps: &[(u32, Value)]) -> usize {
    steps.iter().take_while(|(_, step)| step["is_copied_context"] == true).count()
}

/// Adds the compaction after which only these steps were the context.
pub fn fold(steps: &[(u32, Value)], timeline: &mut Timeline) {
    timeline.settle();
    let (mut into, mut used): (Vec<Message>, _) = (Vec::new(), HashSet::new());
    let mut add = |role: Role, wires: Vec<Value>, timeline: &mut Timeline| {
        if into.last().is_none_or(|last| last.role != role) {
            into.push(timeline.new_message(role, Vec::new(), Origin::Compaction));
        }
        let blocks = wires.into_iter().map(|wire| timeline.original(wire, &mut used));
        let blocks: Vec<_> = blocks.collect();
        into.last_mut().expect("a message").blocks.extend(blocks);
    };
    let unknown = &mut |_: &str| {};
    for (at, (_, step)) in steps.iter().enumerate() {
        match step["source"].as_str().unwrap_or_default() {
            "agent" => {
                add(Role::Assistant, form::read_response(step, unknown), timeline);
                let results = step["observation"]["results"].as_array().into_iter().flatten();
                let wire = |result: &Value| {
                    let content = form::read_result(&result["content"], &mut |_| {});
                    json!({"type": "tool_result", "tool_use_id": result["source_call_id"].as_str()?, "content": content}).into()
                };
                let wires: Vec<Value> = results.filter_map(wire).collect();
                if !wires.is_empty() {
                    add(Role::User, wires, timeline);
                }
            }
            // The system prompt, which stays.
            "system" if at == 0 => {}
            _ => add(Role::User, form::read_parts(&step["message"], unknown), timeline),
        }
    }
    timeline.fold(into, Details::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_further_file_has_the_name_of_the_one_before_with_its_number() {
        let names =
            ["trajectory.cont-1.json", "a.cont-2.cont-3.json", "t.cont-0.json", "t.cont-01.json", "t.json", "cont-1.json"];
        let expected = [Some("trajectory.json"), Some("a.cont-2.cont-2.json"), None, None, None, None];
        assert_eq!(names.map(before), expected.map(|name| name.map(str::to_owned)));
        assert_eq!(["s-cont-2", "s-cont-x", "s"].map(first_session), ["s", "s-cont-x", "s"]);
    }
}
