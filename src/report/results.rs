//! Results of a replay or a sweep as a document: its sections.

use std::io::{self, Write};

use super::answer::AnsweredResults;
use super::table_model::{
    calibration, compare, comparison, cost, cost_check, findings, growth, layers, left_out_transcripts, notes, quirks, retention,
    spending, summarizers, sweep,
};
use super::{Document, Layout, Screen, Section, ci, csv, html, json, screen};
use crate::findings::Case;
use crate::results::saved::Results;

impl Document for Results {
    const CSV: Option<fn(&Self) -> Vec<u8>> = Some(csv::write);
    const HTML: Option<fn(&Self, &Layout) -> Vec<u8>> = Some(html::write);
    const CASES: Option<fn(&Self) -> Vec<Case>> = Some(ci::cases);
    const SECTIONS: &'static [Section<Self>] = &[
        Section::new("recommended", "the recommended configuration and its neighbours", |results, _| {
            one(sweep::recommended(results))
        }),
        Section::new("front", "the Pareto front of a sweep", |results, _| one(sweep::front(results))),
        Section::new("plot", "a plot of the front", |results, _| one(sweep::plot(results))),
        Section::new("parameters", "the effect of each swept parameter", |results, _| one(sweep::sensitivity(results))),
        Section::new("choice", "how the configuration was chosen", |results, _| one(sweep::chosen(results))),
        Section::new("policies", "policies by column, over all conversations", |results, detail| {
            vec![compare::summary(results, detail)]
        }),
        Section::new("comparison", "each policy compared with the baseline", |results, detail| {
            vec![comparison::with_baseline(results, detail)]
        }),
        Section::new("conversations", "the largest conversations by policy", |results, _| vec![compare::conversations(results)]),
        Section::new("growth", "how requests grow", |results, _| vec![growth::growth(results)]),
        Section::new("cache", "cache invalidations, and the most expensive ones", |results, _| {
            vec![cost::breaks(results), cost::costliest(results)]
        }),
        Section::new("billing", "cost check: simulated and billed", |results, _| vec![cost_check::checks(results)]),
        Section::new("facts", "facts in context, by calls since seen, kind and source", |results, _| {
            vec![retention::by_grouping(results), retention::by_generation(results)]
        }),
        Section::new("summarizers", "summarizers compared", |results, _| vec![summarizers::summarizers(results)]),
        Section::new("misses", "facts lost for good and used again, the worst first", |results, _| {
            vec![retention::misses(results)]
        }),
        Section::new("findings", "what is wrong (with --findings)", |results, _| {
            vec![findings::counts(results), findings::worst(results)]
        }),
        Section::new("layers", "what each layer did", |results, _| vec![layers(results)]),
        Section::new("spending", "what answers of models took", |results, _| vec![spending::spending(results)]),
        Section::new("tokens", "how tokens were estimated", |results, _| vec![calibration::calibrations(results)]),
        Section::new("quirks", "known bugs of the original, reproduced", |results, _| vec![quirks(results)]),
        Section::new("notes", "notes on places in transcripts", |results, _| vec![notes(results)]),
        Section::new("toml", "the file of the recommended policy", |results, _| one(sweep::toml(results))),
        // It is the last section, so that its footnote is the last line.
        Section::new("left-out", "transcripts that are not in the results", |results, _| {
            vec![left_out_transcripts(&results.coverage)]
        }),
    ];

    fn screen(&self, layout: &Layout) -> Option<Screen> {
        screen::of_results(self, layout)
    }

    fn json(&self) -> Vec<u8> {
        json::write(&AnsweredResults::new(self))
    }

    fn write_json(&self, to: &mut dyn Write) -> io::Result<()> {
        json::write_to(to, &AnsweredResults::new(self))
    }
}

fn one<T>(table: Option<T>) -> Vec<T> {
    table.into_iter().collect()
}
