//! Groups the records of a branch into turns: a response and the records after it.

use std::collections::HashMap;

use super::record::Record;

/// A response, and all records of the user's side up to the next response.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The lines of one response, even if results are between them. Empty only in the first turn.
    pub response: Vec<usize>,
    pub after: Vec<usize>,
}

/// Returns the turns of a branch. A result belongs to the turn of its call, wherever its line is.
pub fn turns(records: &[Record], branch: &[usize]) -> Vec<Turn> {
    let mut turns = vec![Turn::default()];
    let mut by_response: HashMap<&str, usize> = HashMap::new();
    let mut by_call: HashMap<&str, usize> = HashMap::new();
    for &i in branch {
        let record = &records[i];
        let latest = turns.len() - 1;
        if record.is_assistant() {
            if !record.is_conversation() {
                continue;
            }
            let known = match record.response_id() {
                Some(id) => by_response.get(id).copied(),
                // Lines without an id are one response as long as nothing is between them.
                None => Some(latest).filter(|turn| {
                    let turn = &turns[*turn];
                    turn.after.is_empty() && turn.response.last().is_some_and(|i| records[*i].response_id().is_none())
                }),
            };
            let turn = known.unwrap_or_else(|| {
                turns.push(Turn::default());
                turns.len() - 1
            });
            if let Some(id) = record.response_id() {
                by_response.insert(id, turn);
            }
            by_call.extend(record.calls.iter().map(|id| (id.as_str(), turn)));
            turns[turn].response.push(i);
        } else {
            let turn = record.answers.iter().find_map(|id| by_call.get(id.as_str())).copied().unwrap_or(latest);
            turns[turn].after.push(i);
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(lines: &[&str]) -> Vec<Record> {
        let record = |line: &&str| {
            let mut record: Record = serde_json::from_str(line).expect("a record");
            record.take_content();
            record
        };
        lines.iter().map(record).collect()
    }

    #[test]
    fn response_lines_are_joined_across_results() {
        let call =
            |id: &str| format!(r#"{{"type":"assistant","message":{{"id":"m1","content":[{{"type":"tool_use","id":"{id}"}}]}}}}"#);
        let result =
            |id: &str| format!(r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}"}}]}}}}"#);
        let other = r#"{"type":"assistant","message":{"id":"m2","content":[]}}"#;
        let records = records(&[&call("a"), &result("a"), &call("b"), other, &result("b")]);
        let turn = |response: &[usize], after: &[usize]| Turn { response: response.into(), after: after.into() };
        assert_eq!(turns(&records, &[0, 1, 2, 3, 4]), [turn(&[], &[]), turn(&[0, 2], &[1, 4]), turn(&[3], &[])]);
    }

    #[test]
    fn synthetic_responses_are_left_out() {
        let synthetic = r#"{"type":"assistant","message":{"id":"m1","model":"<synthetic>","content":[]}}"#;
        assert_eq!(turns(&records(&[synthetic]), &[0]), [Turn::default()]);
    }
}
