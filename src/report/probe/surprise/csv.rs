//! The uses as CSV.

use crate::analysis::probe::surprise::ScoredUse;
use crate::report::csv::{IN_MEMORY, text};

/// Writes a cell of a use.
type Cell = fn(&ScoredUse) -> String;

/// The columns with their names: all but the fact's text.
const COLUMNS: &[(&str, Cell)] = &[
    ("policy", |used| text(&used.policy)),
    ("transcript", |used| text(&used.transcript)),
    ("conversation", |used| text(&used.conversation)),
    ("session", |used| text(&used.session)),
    ("repository", |used| text(used.repository())),
    ("format", |used| text(&used.format)),
    ("recorded_model", |used| text(used.recorded_model.as_deref().unwrap_or_default())),
    ("call", |used| used.call.to_string()),
    ("kind", |used| used.kind.to_owned()),
    ("gap", |used| used.gap.to_string()),
    ("need", |used| used.need.to_owned()),
    ("provenance", |used| used.provenance.to_owned()),
    ("outcome", |used| used.outcome.name().to_owned()),
    ("weight", |used| used.weight.to_string()),
    ("rarity", |used| used.rarity.to_string()),
    ("shared", |used| optional(used.shared)),
    ("bytes", |used| used.bytes.to_string()),
    ("tokens", |used| used.tokens.to_string()),
    ("full", |used| used.full.to_string()),
    ("compacted", |used| used.compacted.to_string()),
    ("lost", |used| used.lost.to_string()),
    ("other_block", |used| optional(used.other_block)),
    ("other_fact_full", |used| optional(used.other_fact_full)),
    ("other_fact", |used| optional(used.other_fact)),
    ("prompt_tokens", |used| used.prompt_tokens.to_string()),
    ("request_tokens", |used| used.request_tokens.to_string()),
];

/// Writes a line for each use.
pub fn write(uses: &[ScoredUse]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS.iter().map(|(name, _)| name)).expect(IN_MEMORY);
    for used in uses {
        writer.write_record(COLUMNS.iter().map(|(_, cell)| cell(used))).expect(IN_MEMORY);
    }
    writer.into_inner().expect(IN_MEMORY)
}

fn optional(number: Option<f64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}
