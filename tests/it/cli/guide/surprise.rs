//! The tables of the page on validation that come from the measured surprise of models.

use recompact::analysis::probe::Estimate;
use recompact::analysis::probe::surprise::{BitsGroup, Grouping, SurpriseResults};

use super::blocks::table;
use crate::support::surprise::{MODELS, RESULTS, RESULTS_OF_NEEDS};

/// Formats a number with its interval: `0.81 (0.78 to 0.84)`.
fn shown(Estimate { value, interval }: Estimate, digits: usize) -> String {
    match (value, interval) {
        (Some(value), Some([low, high])) => format!("{value:.digits$} ({low:.digits$} to {high:.digits$})"),
        (Some(value), None) => format!("{value:.digits$}"),
        (None, _) => "–".to_owned(),
    }
}

/// Returns the end of a model's name: `0.5b`.
fn size(model: &str) -> &str {
    model.rsplit('-').next().unwrap_or(model)
}

/// A row for each group of some groupings, and some columns for each model.
fn groups<const N: usize>(
    models: &[SurpriseResults],
    groupings: &[Grouping],
    columns: [&str; N],
    cells: impl Fn(&BitsGroup) -> [String; N],
) -> String {
    let of_models = MODELS[..models.len()].iter().flat_map(|model| columns.map(|column| format!("{column}, {}", size(model))));
    let head: Vec<String> = ["", "uses", "sessions"].map(str::to_owned).into_iter().chain(of_models).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for by in groupings {
        for group in models[0].by(*by) {
            let name = if *by == Grouping::All { "**all**".to_owned() } else { format!("{}: {}", by.name(), group.name) };
            let mut row = vec![name, group.uses.to_string(), group.sessions.to_string()];
            let same = models.iter().filter_map(|model| model.by(*by).find(|other| other.name == group.name));
            row.extend(same.flat_map(&cells));
            rows.push(row);
        }
    }
    table(head.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}

pub fn prediction() -> String {
    let columns = ["AUC", "ranks"];
    let cells = |group: &BitsGroup| [group.auc, group.rank_correlation].map(|number| shown(number, 2));
    let all = groups(&RESULTS[..], &[Grouping::All, Grouping::Agent], columns, cells);
    all + &range_of("policies", Grouping::Policy) + &range_of("repositories", Grouping::Repository)
}

/// A row with the lowest and the highest value of the groups of a kind.
fn range_of(names: &str, by: Grouping) -> String {
    let of_models = RESULTS.iter().map(|model| model.by(by).collect::<Vec<_>>()).collect::<Vec<_>>();
    let range = |groups: &[&BitsGroup], of: fn(&BitsGroup) -> Estimate| {
        let values = || groups.iter().filter_map(|group| of(group).value);
        assert_eq!(values().count(), groups.len(), "every group has a value");
        format!("{:.2} to {:.2}", values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };
    let ranges =
        of_models.iter().flat_map(|groups| [range(groups, |group| group.auc), range(groups, |group| group.rank_correlation)]);
    let uses = || of_models[0].iter().map(|group| group.uses);
    let (least, most) = (uses().min().unwrap_or(0), uses().max().unwrap_or(0));
    let uses = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let name = format!("each of {} {names}", of_models[0].len());
    let cells: Vec<String> = [name, uses, String::new()].into_iter().chain(ranges).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// The bits of the smaller model, from which the weights are.
pub fn bits() -> String {
    let by = [Grouping::Outcome, Grouping::Kind];
    groups(&RESULTS[..1], &by, ["lost"], |group| [shown(if group.gone > 0 { group.lost } else { group.lost_in_context }, 1)])
}

pub fn controls() -> String {
    let rows = RESULTS.iter().map(|model| {
        let all = model.all().expect("uses");
        let bits = [all.lost, all.lost_in_context, model.other_block, model.other_fact].map(|bits| shown(bits, 1));
        let name = [format!("`{}`", model.about.model)];
        name.into_iter().chain(bits).chain([shown(all.auc_against_control, 2)]).collect::<Vec<_>>()
    });
    table(["model", "gone", "in context", "another block away", "another fact", "AUC against the first control"], rows)
}

/// The bits of what calls name and of what they fetch again.
pub fn needs() -> String {
    let of_model = |results: &'static SurpriseResults| {
        results.by(Grouping::Need).map(|group| {
            let bits = [group.lost, group.lost_in_context].map(|bits| shown(bits, 1));
            let order = [group.auc, group.rank_correlation].map(|number| shown(number, 2));
            let about =
                [format!("{}, `{}`", group.name, results.about.model), group.uses.to_string(), group.sessions.to_string()];
            about.into_iter().chain(bits).chain(order).collect::<Vec<_>>()
        })
    };
    table(["need", "uses", "sessions", "gone", "in context", "AUC", "ranks"], RESULTS_OF_NEEDS.iter().flat_map(of_model))
}

/// How well weights that were learned on other repositories order the facts that are gone.
pub fn worth() -> String {
    let models: &[SurpriseResults] = &*RESULTS;
    let head: Vec<String> =
        ["weight".to_owned()].into_iter().chain(MODELS.iter().map(|model| format!("ranks, {}", size(model)))).collect();
    let row = |name: &str, of: fn(&SurpriseResults) -> Estimate| -> Vec<String> {
        [name.to_owned()].into_iter().chain(models.iter().map(|model| shown(of(model), 2))).collect()
    };
    let rows = [
        row("the logarithm of the rarity", |model| model.worth_check.rarity),
        row("by kind and length", |model| model.worth_check.worth),
        row("by kind, length and how many sessions share it", |model| model.worth_check.with_sharing),
    ];
    table(head.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}
