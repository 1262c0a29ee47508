//! The surprise of a model as a document: how many bits a policy costs it, and whether the retention metric predicts that.

mod csv;
mod screen;

use super::{headers, number};
use crate::analysis::probe::Estimate;
use crate::analysis::probe::surprise::{BitsGroup, Grouping, MIN_AUC, MIN_CORRELATION, ScoredUse, SurpriseResults, WorthCheck};
use crate::metrics::column::Unit;
use crate::report::number_format::{self, MISSING};
use crate::report::table_model::{TableModel, left_out_transcripts};
use crate::report::{Document, Layout, Screen, Section, json};
use crate::util::text::plural;

impl Document for SurpriseResults {
    const CSV: Option<fn(&Self) -> Vec<u8>> = Some(|results| csv::write(&results.uses));

    const SECTIONS: &'static [Section<Self>] = &[
        Section::new(
            "bits",
            "bits lost, by policy, outcome, kind, gap, source, other sessions, repository and agent",
            |results, _| {
                let groupings = &Grouping::ALL[1..];
                let legend = |by: &Grouping| if groupings.last() == Some(by) { vec![legend()] } else { Vec::new() };
                groupings.iter().map(|by| TableModel { footnotes: legend(by), ..bits(results, *by) }).collect()
            },
        ),
        Section::new("prediction", "whether kept.hit predicts the loss, by policy, repository and agent", |results, _| {
            vec![prediction(results)]
        }),
        Section::new("worth", "what facts are worth in bits, by kind and length", |results, _| vec![worth(results)]),
        Section::new("controls", "what should lose nothing", |results, _| vec![controls(results)]),
        Section::new("left-out", "transcripts that are not in the results", |results, _| {
            vec![left_out_transcripts(&results.about.coverage)]
        }),
    ];

    fn screen(&self, layout: &Layout) -> Option<Screen> {
        screen::screen(self, layout)
    }

    fn json(&self) -> Vec<u8> {
        json::write(self)
    }
}

/// Formats bits with one digit, and their interval: `21.4 (18.0 … 25.1)`.
fn bits_of(bits: Estimate) -> String {
    with_interval(bits, 1)
}

/// Formats a number from −1 to 1 with its interval: `0.81 (0.78 … 0.84)`.
fn ratio(number: Estimate) -> String {
    with_interval(number, 2)
}

fn with_interval(Estimate { value, interval }: Estimate, digits: usize) -> String {
    let shown = |value: f64| number_format::grouped(value, digits);
    match (value, interval) {
        (Some(value), Some([low, high])) => format!("{} ({} … {})", shown(value), shown(low), shown(high)),
        (Some(value), None) => shown(value),
        (None, _) => MISSING.to_owned(),
    }
}

fn bits(results: &SurpriseResults, by: Grouping) -> TableModel {
    let row = |group: &BitsGroup| {
        let mut cells = vec![group.name.clone(), number(group.uses), number(group.gone)];
        cells.extend([group.full, group.compacted, group.lost, group.lost_in_context, group.unrelated].map(bits_of));
        cells.push(number_format::value(Unit::Share, group.guessed));
        cells
    };
    let columns =
        ["uses", "gone", "full request", "policy's request", "bits lost", "lost in context", "unrelated fact", "guessed"];
    TableModel {
        title: format!("Bits by {}", by.name()),
        subject: results.about.model.clone(),
        headers: headers(&[by.name()], &columns),
        rows: results.by(by).map(row).collect(),
        footnotes: vec![legend()],
    }
}

fn legend() -> String {
    "bits for each use. full request, policy's request: surprise of facts that are gone; bits lost: the difference; lost in \
             context: the same for facts that kept.hit counts as in context; unrelated fact: surprise of another fact of the same kind \
             with the full request; guessed: of the bits that the full request saves against an unrelated fact, the share that the \
             policy's request saves too"
    .to_owned()
}

/// The groups for which a prediction is shown.
const PREDICTED: [Grouping; 4] = [Grouping::All, Grouping::Policy, Grouping::Repository, Grouping::Agent];

fn prediction(results: &SurpriseResults) -> TableModel {
    let row = |group: &BitsGroup| {
        let names = [group.by.name().to_owned(), group.name.clone()];
        let counts = [group.uses, group.gone, group.sessions].map(number);
        names.into_iter().chain(counts).chain([group.auc, group.auc_against_control, group.rank_correlation].map(ratio)).collect()
    };
    let columns = ["uses", "gone", "sessions", "AUC", "AUC against control", "rank correlation"];
    TableModel {
        title: "Does kept.hit predict the loss?".to_owned(),
        subject: results.about.model.clone(),
        headers: headers(&["by", "group"], &columns),
        rows: PREDICTED.iter().flat_map(|by| results.by(*by)).map(row).collect(),
        footnotes: vec![format!(
            "AUC: how often a gone fact loses more bits than one in the context (.5: no prediction; {MIN_AUC} is needed); against \
             control: than one from whose request another block of the same size is taken; rank \
             correlation: of the weight of gone facts with the bits, within sessions ({MIN_CORRELATION} is needed). 95 % intervals over \
             sessions, from six sessions on"
        )],
    }
}

fn worth(results: &SurpriseResults) -> TableModel {
    let mean = results.worth.mean;
    let rows = results.worth.groups().map(|(by, name, factor)| {
        let [factor, bits] = [(factor, 2), (mean * factor, 1)].map(|(value, digits)| number_format::grouped(value, digits));
        vec![by.to_owned(), name.to_owned(), factor, bits]
    });
    let WorthCheck { rarity, worth, with_sharing, uses } = results.worth_check;
    TableModel {
        title: "What a fact is worth".to_owned(),
        subject: results.about.model.clone(),
        headers: headers(&["by", "group"], &["factor", "bits"]),
        rows: rows.collect(),
        footnotes: vec![
            format!("a gone fact costs {} bits × its two factors", number_format::grouped(mean, 1)),
            format!(
                "rank correlation within sessions with the loss of {}, each learned on other repositories: {}; if facts that other \
                 sessions have too count less: {}; with the rarity of the fact: {}",
                plural(uses, "gone fact"),
                ratio(worth),
                ratio(with_sharing),
                ratio(rarity)
            ),
        ],
    }
}

fn controls(results: &SurpriseResults) -> TableModel {
    let asked = |of: fn(&ScoredUse) -> bool| number(results.uses.iter().filter(|used| of(used)).count());
    let rows = vec![
        vec![
            "another block of the same size is taken away".to_owned(),
            asked(|used| used.other_block.is_some()),
            bits_of(results.other_block),
        ],
        vec![
            "another fact of the same kind in its place".to_owned(),
            asked(|used| used.other_fact.is_some() && used.outcome.is_gone()),
            bits_of(results.other_fact),
        ],
    ];
    let prompts = results.uses.iter().map(|used| used.prompt_tokens).sum::<u64>() as f64;
    let requests = results.uses.iter().map(|used| used.request_tokens).sum::<u64>() as f64;
    let uses = results.uses.len().max(1) as f64;
    TableModel {
        title: "Controls: what should lose nothing".to_owned(),
        subject: results.about.model.clone(),
        headers: headers(&["control"], &["uses", "bits lost"]),
        rows,
        footnotes: vec![format!(
            "both requests of a use are trimmed to the same blocks: {} tokens on average of requests of {}; {} could not be asked about, \
             because the record does not have the fact literally",
            number_format::grouped(prompts / uses, 0),
            number_format::grouped(requests / uses, 0),
            plural(results.unaskable, "more use")
        )],
    }
}
