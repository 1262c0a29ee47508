//! What recorded compactions lost.

use super::super::table_model::cut as cut_text;
use super::{ColumnHeader, Inspection, TableModel, cut, folder, number, tokens};
use crate::analysis::inspect::{CompactionLoss, LostFact};

/// One row per recorded compaction. The table of all compactions has the call before which each happened.
pub fn losses(inspections: &[Inspection]) -> TableModel {
    let row = |(transcript, loss): (&str, &CompactionLoss)| {
        let mut cells = vec![format!("{transcript}:{}", loss.line)];
        let in_summary = if loss.encrypted { "encrypted".to_owned() } else { number(loss.in_summary) };
        cells.extend([number(loss.needed), in_summary]);
        cells.extend([loss.fetched_again, loss.own_words, loss.user, loss.nowhere].map(number));
        cells.extend([loss.refetched_tokens, loss.predicted_tokens].map(tokens));
        cells
    };
    let (rows, mut footnotes) = cut(losses_with_paths(inspections).map(row).collect(), "compaction");
    footnotes.push(
        "needed: facts from before the compaction that were used after it, split by where the first use could get them"
            .to_owned(),
    );
    if losses_with_paths(inspections).any(|(_, loss)| loss.encrypted) {
        footnotes.push("encrypted: only the provider can read the summary, so its facts count as nowhere".to_owned());
    }
    footnotes.push(
        "~tokens refetched: tool results that brought facts back; ~tokens predicted: reading the cheapest sources again"
            .to_owned(),
    );
    let mut headers = vec![ColumnHeader::names("location")];
    let counts = ["needed", "in the summary", "fetched again", "own words", "user", "nowhere"];
    headers.extend(counts.into_iter().chain(["~tokens refetched", "~tokens predicted"]).map(ColumnHeader::numbers));
    TableModel { title: "What recorded compactions lost".to_owned(), subject: String::new(), headers, rows, footnotes }
}

/// Facts that the agent used after a compaction although no text it could see held them.
pub fn nowhere(inspections: &[Inspection]) -> TableModel {
    let facts = |(transcript, loss): (&str, &CompactionLoss)| {
        let row = |fact: &LostFact| vec![format!("{transcript}:{}", fact.line), fact.kind.to_string(), cut_text(&fact.text)];
        loss.nowhere_facts.iter().map(row).collect::<Vec<_>>()
    };
    let (rows, footnotes) = cut(losses_with_paths(inspections).flat_map(facts).collect(), "fact");
    let headers = vec![ColumnHeader::names("used at"), ColumnHeader::names("kind"), ColumnHeader::prose("fact")];
    TableModel {
        title: "Facts used after a compaction that were not visible".to_owned(),
        subject: String::new(),
        headers,
        rows,
        footnotes,
    }
}

/// Returns each loss with the path of its transcript, without the folder that all paths have in common.
fn losses_with_paths(inspections: &[Inspection]) -> impl Iterator<Item = (&str, &CompactionLoss)> {
    let folder = folder(inspections).len();
    inspections
        .iter()
        .flat_map(move |inspection| inspection.compaction_losses.iter().map(move |loss| (&inspection.transcript[folder..], loss)))
}
