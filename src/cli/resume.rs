//! `--resume RESULTS.json`: reads the results of a run that was stopped.

use std::path::Path;

use recompact::analysis::resume::Resumed;
use recompact::results::saved::StudyRecord;

use super::error::Failure;
use super::saved_results;

/// Reads the saved results, which must be of the same study.
pub fn load(path: &Path, study: &StudyRecord) -> Result<Resumed, Failure> {
    let failed = |why: String| Failure::Usage(format!("--resume {}: {why}", path.display()));
    let results = saved_results::load(path).map_err(failed)?;
    Resumed::new(results, study).map_err(|error| failed(error.to_string()))
}
