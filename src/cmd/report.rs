//! `recompact report`: saved results → another report.

use std::path::PathBuf;

use clap::Args;
use recompact::results::Results;

use super::Failure;
use super::input::not_written_over;
use super::present::Present;

#[derive(Args)]
pub struct Report {
    /// Results saved with `-o json`; - is standard input
    #[arg(value_name = "RESULTS.json")]
    file: PathBuf,
    #[command(flatten)]
    present: Present,
}

impl Report {
    pub fn run(self) -> Result<(), Failure> {
        let failed = |why: String| Failure::Usage(format!("{}: {why}", self.file.display()));
        let (inputs, errors) = crate::source::find(std::slice::from_ref(&self.file));
        if let Some(error) = errors.first() {
            return Err(Failure::Usage(error.to_string()));
        }
        let [input] = &inputs[..] else { return Err(failed("name one file of saved results".to_owned())) };
        not_written_over(input, &[self.present.out()])?;
        let bytes = crate::source::read(input).map_err(|error| Failure::Usage(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| failed("not UTF-8 text".to_owned()))?;
        let results = Results::from_json(&text).map_err(|error| failed(error.to_string()))?;
        if results.rows.is_empty() && results.unfinished.is_some() {
            return Err(failed(
                "a sweep that was stopped has nothing to report yet; `recompact sweep … --resume` goes on".to_owned(),
            ));
        }
        self.present.results(&results)
    }
}
