//! The answers of a model to a probe as documents, one for each scorer, and what a probe would ask.

mod questions;
mod surprise;

use super::screen::Check;
use super::table_model::{ColumnHeader, TableModel, left_out_transcripts};
use super::{Document, Section, json, number_format};
use crate::analysis::probe::{About, Forecast};
use crate::results::saved::Coverage;

/// What would be asked, for a dry run.
pub struct DryRun {
    pub forecasts: Vec<Forecast>,
    pub coverage: Coverage,
}

impl Document for DryRun {
    const SECTIONS: &'static [Section<Self>] = &[
        Section::new("forecast", "what would be asked", |run, _| vec![forecast(&run.forecasts)]),
        Section::new("left-out", "transcripts that are not in the results", |run, _| vec![left_out_transcripts(&run.coverage)]),
    ];

    fn json(&self) -> Vec<u8> {
        json::write(&self.forecasts)
    }
}

fn forecast(forecasts: &[Forecast]) -> TableModel {
    let all = Forecast {
        of: "all".to_owned(),
        questions: forecasts.iter().map(|forecast| forecast.questions).sum(),
        contexts: forecasts.iter().map(|forecast| forecast.contexts).sum(),
        tokens: forecasts.iter().map(|forecast| forecast.tokens).sum(),
        new_tokens: forecasts.iter().map(|forecast| forecast.new_tokens).sum(),
    };
    let row = |forecast: &Forecast| {
        let (questions, contexts) = (forecast.questions as u64, forecast.contexts.map(|contexts| contexts as u64));
        let counts = [Some(questions), contexts, Some(forecast.tokens), forecast.new_tokens];
        std::iter::once(forecast.of.clone()).chain(counts.into_iter().flatten().map(number_format::count)).collect()
    };
    let (from, numbers, tokens): (_, &[&str], _) = match all.new_tokens {
        Some(_) => (
            "context from",
            &["questions", "contexts", "prompt tokens", "new tokens"],
            "tokens as counted by o200k; new tokens: if the server still caches the prefix it read for the question before",
        ),
        None => ("request from", &["questions", "tokens"], "tokens of prompts and facts as counted by o200k"),
    };
    TableModel {
        title: "What would be asked".to_owned(),
        subject: String::new(),
        headers: headers(&[from], numbers),
        rows: forecasts.iter().chain([&all]).map(row).collect(),
        footnotes: vec![format!("each question counts once, however often it comes up; {tokens}")],
    }
}

/// Returns headers of columns with names, then of columns with numbers.
fn headers(names: &[&'static str], numbers: &[&'static str]) -> Vec<ColumnHeader> {
    let names = names.iter().copied().map(ColumnHeader::names);
    names.chain(numbers.iter().copied().map(ColumnHeader::numbers)).collect()
}

fn number(count: usize) -> String {
    number_format::count(count as u64)
}

/// Returns the checks of a first screen: transcripts that are missing, then what else was left out, with the section that shows it.
fn checks(about: &About, left_out: Option<(&'static str, String)>) -> Vec<Check> {
    let missing = || ("left-out", format!("only {} asked about", about.coverage.line_were()));
    let missing = (!about.coverage.is_complete()).then(missing);
    missing.into_iter().chain(left_out).map(|(section, text)| Check::new(section, text)).collect()
}
