//! What a run says of transcripts, files and lines that are not in its results, and how it then ends.

use recompact::analysis::corpus::{Processed, RunError};
use recompact::report::escape;
use recompact::util::text::{are, plural};

use super::error::Failure;
use super::output;

/// Prints skipped lines and files on standard error, and how many transcripts are left.
pub fn say_skipped<T>(processed: &Processed<T>, (quiet, strict): (bool, bool)) {
    if !quiet || strict {
        let skipped = processed.skipped_lines.iter().cloned().chain(processed.skipped_file_lines());
        skipped.for_each(|line| output::say(&escape::terminal(&line)));
    }
    if !quiet && processed.unwanted > 0 {
        let (transcripts, are) = (plural(processed.unwanted, "transcript"), are(processed.unwanted));
        output::say(&format!("{transcripts} {are} not of the wanted days, project, model or format"));
    }
    if !quiet && !processed.coverage.is_complete() {
        output::say(&format!("{} read", processed.coverage.line_were()));
    }
}

/// Returns how a run ends in which some transcripts could not be analysed, strict or not.
pub fn end_of(end: Result<(), RunError>, strict: bool) -> Result<(), Failure> {
    match end {
        Err(RunError::Input(errors)) if !strict => {
            errors.iter().for_each(|why| output::say(&format!("left out: {}", escape::terminal_lines(why))));
            Ok(())
        }
        end => Ok(end?),
    }
}
