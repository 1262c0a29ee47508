//! One request of a replay as a document: a readable text.

use std::collections::BTreeMap;

use super::table_model::{ColumnHeader, TableModel, cut_to};
use super::{Detail, Document, Section, json, number_format};
use crate::analysis::show::{PartState, ShownPart, ShownRequest};
use crate::util::text::plural;

/// Lines of a part that are shown, unless everything is wanted.
const SENT_LINES: usize = 6;
/// The same for what was recorded and is not in the request.
const RECORDED_LINES: usize = 3;
/// Who removes what no layer removed: the thinking of earlier turns.
const PROVIDER: &str = "the provider";
/// Characters of a line that are shown, unless everything is wanted.
const LINE: usize = 160;

impl Document for ShownRequest {
    const SECTIONS: &'static [Section<Self>] = &[
        Section::new("counts", "parts by what became of them", |shown, _| vec![counts(shown)]),
        Section::new("request", "the request, part by part", |shown, detail| vec![request(shown, detail)]),
    ];

    fn json(&self) -> Vec<u8> {
        json::write(self)
    }
}

/// `cleared by micro` and the like, with the number of parts and their recorded tokens.
fn counts(shown: &ShownRequest) -> TableModel {
    let mut groups: BTreeMap<(PartState, Option<&str>), (usize, u64)> = BTreeMap::new();
    for part in &shown.parts {
        let group = groups.entry((part.state, part.layer.as_deref())).or_default();
        group.0 += 1;
        group.1 += part.recorded_tokens.unwrap_or(0);
    }
    let row = |((state, layer), (parts, tokens)): (&(PartState, Option<&str>), &(usize, u64))| {
        vec![
            describe(*state).to_owned(),
            layer.unwrap_or(if *state == PartState::Removed { PROVIDER } else { "" }).to_owned(),
            parts.to_string(),
            number_format::count(*tokens),
        ]
    };
    let mut headers = vec![ColumnHeader::names("parts"), ColumnHeader::names("layer")];
    headers.extend(["number", "~tokens as recorded"].map(ColumnHeader::numbers));
    let overflow = if shown.overflows { "; it does not fit the context window" } else { "" };
    let compared = shown.compared_with.as_ref().map(|_| ", only what differs").unwrap_or_default();
    TableModel {
        title: format!(
            "Call {} of {}: {} tokens in {}{overflow}{compared}",
            shown.call,
            number_format::count(shown.calls as u64),
            number_format::count(shown.tokens),
            plural(shown.messages, "message")
        ),
        subject: match &shown.compared_with {
            Some(other) => format!("{} compared with {other}", shown.policy),
            None => shown.policy.clone(),
        },
        headers,
        rows: groups.iter().map(row).collect(),
        footnotes: vec![],
    }
}

fn describe(state: PartState) -> &'static str {
    match state {
        PartState::Recorded => "as recorded",
        PartState::Rewritten => "rewritten",
        PartState::Inserted => "put in",
        PartState::Removed => "removed",
    }
}

fn request(shown: &ShownRequest, detail: &Detail) -> TableModel {
    let lines = shown.parts.iter().flat_map(|part| part_lines(part, detail.is_full));
    let footnotes = vec!["| what the model reads; < what was recorded and is not in the request".to_owned()];
    TableModel::verbatim(format!("The request, {}", plural(shown.parts.len(), "part")), String::new(), lines, footnotes)
}

fn part_lines(part: &ShownPart, is_full: bool) -> Vec<String> {
    let mut lines = vec![heading(part)];
    lines.extend(text_lines("  | ", &part.text, is_full, SENT_LINES));
    lines.extend(part.recorded.iter().flat_map(|text| text_lines("  < ", text, is_full, RECORDED_LINES)));
    lines
}

/// `user, tool_result Read, line 431: rewritten by micro, 2,341 tokens recorded`
pub fn heading(part: &ShownPart) -> String {
    let mut head = format!("{}, {}", part.role, part.what);
    if part.line > 0 {
        head += &format!(", line {}", part.line);
    }
    if part.state != PartState::Recorded {
        let by = part.layer.as_deref().or((part.state == PartState::Removed).then_some(PROVIDER));
        let by = by.map(|layer| format!(" by {layer}")).unwrap_or_default();
        let tokens = part.recorded_tokens.map(|tokens| format!(", {} tokens recorded", number_format::count(tokens)));
        head += &format!(": {}{by}{}", describe(part.state), tokens.unwrap_or_default());
    }
    head
}

/// The first lines of what the model reads.
pub fn sent_lines(part: &ShownPart) -> Vec<String> {
    text_lines("", &part.text, false, SENT_LINES)
}

/// The first lines of what was recorded and is not in the request.
pub fn recorded_lines(part: &ShownPart) -> Vec<String> {
    part.recorded.iter().flat_map(|text| text_lines("", text, false, RECORDED_LINES)).collect()
}

fn text_lines(mark: &str, text: &str, is_full: bool, most: usize) -> Vec<String> {
    let all = text.lines().count();
    let shown = if is_full { all } else { most };
    let cut = |line: &str| if is_full { line.to_owned() } else { cut_to(line, LINE) };
    let mut lines: Vec<String> = text.lines().take(shown).map(|line| format!("{mark}{}", cut(line))).collect();
    if all > shown {
        lines.push(format!("{mark}… {} (--full)", plural(all - shown, "more line")));
    }
    lines
}
