//! What recorded compactions lost.

use super::super::table_model::cut as cut_text;
use super::{ColumnHeader, Inspection, TableModel, cut, folder, number, tokens};
use crate::analysis::inspect::{CompactionLoss, LostFact};

/// One row a recorded compaction; before which call it was is in the sheet of all compactions.
pub fn losses(inspections: &[Inspection]) -> TableModel {
    let row = |(transcript, loss): (&str, &CompactionLoss)| {
        let mut cells = vec![format!("{transcript}:{}", loss.line)];
        let in_summary = if loss.encrypted { "encrypted".to_owned() } else { number(loss.in_summary) };
        cells.extend([number(loss.needed), in_summary]);
        cells.extend([loss.fetched_again, loss.own_words, loss.user, loss.nowhere].map(number));
        cells.extend([loss.refetched_tokens, loss.predicted_tokens].map(tokens));
        cells
    };
    let (rows, mut below) = cut(of(inspections).map(row).collect(), "compaction");
    below.push("needed: facts from before it that were used after it, by where the first use could have them from".to_owned());
    if of(inspections).any(|(_, loss)| loss.encrypted) {
        below.push("encrypted: only the provider can read the summary, and what it held counts as nowhere".to_owned());
    }
    below.push("~tokens refetched: results that brought them back; predicted: the cheapest sources, read again".to_owned());
    let mut heads = vec![ColumnHeader::names("place")];
    let counts = ["needed", "in the summary", "fetched again", "own words", "user", "nowhere"];
    heads.extend(counts.into_iter().chain(["~tokens refetched", "~tokens predicted"]).map(ColumnHeader::numbers));
    TableModel { title: "What recorded compactions lost".to_owned(), measure: String::new(), heads, rows, below }
}

/// The facts an agent used although no text it could see held them.
pub fn nowhere(inspections: &[Inspection]) -> TableModel {
    let facts = |(transcript, loss): (&str, &CompactionLoss)| {
        let row = |fact: &LostFact| vec![format!("{transcript}:{}", fact.line), fact.kind.to_owned(), cut_text(&fact.text)];
        loss.nowhere_facts.iter().map(row).collect::<Vec<_>>()
    };
    let (rows, below) = cut(of(inspections).flat_map(facts).collect(), "fact");
    let heads = vec![ColumnHeader::names("used at"), ColumnHeader::names("kind"), ColumnHeader::prose("fact")];
    TableModel {
        title: "Facts used after a compaction that no visible text held".to_owned(),
        measure: String::new(),
        heads,
        rows,
        below,
    }
}

/// Every loss with the path of its transcript, without the folder that all have in common.
fn of(inspections: &[Inspection]) -> impl Iterator<Item = (&str, &CompactionLoss)> {
    let folder = folder(inspections).len();
    inspections
        .iter()
        .flat_map(move |inspection| inspection.compaction_losses.iter().map(move |loss| (&inspection.transcript[folder..], loss)))
}
