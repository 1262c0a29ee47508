//! The uses as CSV.

use crate::analysis::surprise::ScoredUse;
use crate::report::csv::{IN_MEMORY, text};

/// Writes a line for each use, with everything but the fact's text.
pub fn write(uses: &[ScoredUse]) -> Vec<u8> {
    let header = [
        "policy",
        "transcript",
        "conversation",
        "session",
        "repository",
        "format",
        "recorded_model",
        "call",
        "kind",
        "gap",
        "provenance",
        "outcome",
        "weight",
        "shared",
        "bytes",
        "tokens",
        "full",
        "compacted",
        "lost",
        "other_block",
        "other_fact_full",
        "other_fact",
        "prompt_tokens",
        "request_tokens",
    ];
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).expect(IN_MEMORY);
    let optional = |bits: Option<f64>| bits.map(|bits| bits.to_string()).unwrap_or_default();
    for used in uses {
        let cells = [
            text(&used.policy),
            text(&used.transcript),
            text(&used.conversation),
            text(&used.session),
            text(used.repository()),
            text(&used.format),
            text(used.recorded_model.as_deref().unwrap_or_default()),
            used.call.to_string(),
            used.kind.to_owned(),
            used.gap.to_string(),
            used.provenance.to_owned(),
            used.outcome.name().to_owned(),
            used.weight.to_string(),
            optional(used.shared),
            used.bytes.to_string(),
            used.tokens.to_string(),
            used.full.to_string(),
            used.compacted.to_string(),
            used.lost.to_string(),
            optional(used.other_block),
            optional(used.other_fact_full),
            optional(used.other_fact),
            used.prompt_tokens.to_string(),
            used.request_tokens.to_string(),
        ];
        writer.write_record(cells).expect(IN_MEMORY);
    }
    writer.into_inner().expect(IN_MEMORY)
}
