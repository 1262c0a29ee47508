//! `recompact merge`: makes one study of the parts that many machines wrote.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;
use recompact::analysis::part::{Part, Unasked};
use recompact::analysis::sweep::{LoadedSweep, SweepOfParts};
use recompact::results::saved::Results;
use recompact::transcript::source::expand_patterns;
use recompact::util::spill::Spill;

use crate::cli::args::output::{OutputArgs, PolicyColumns};
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::help::MORE;
use crate::cli::left_out::{end_of, say_skipped};
use crate::cli::output;

#[derive(Args)]
pub struct Merge {
    /// Parts that `recompact replay` or `sweep` wrote with `--part FILE`: files or glob patterns
    #[arg(value_name = "PART", required = true)]
    parts: Vec<PathBuf>,
    /// Write the merged part to this file, to merge it with others later, and report nothing
    #[arg(help_heading = MORE, long, value_name = "FILE", conflicts_with_all = ["output", "out"])]
    part: Option<PathBuf>,
    #[command(flatten)]
    columns: PolicyColumns,
    #[command(flatten)]
    output: OutputArgs,
}

impl Merge {
    pub fn run(mut self) -> Result<(), Failure> {
        self.output.with_columns(&self.columns);
        self.output.works_on(&self.parts);
        self.output.must_show::<Results>("merge")?;
        self.parts = expand_patterns(&self.parts);
        let mut uses = FileUses::default();
        self.parts.iter().for_each(|path| uses.read("PART", path));
        self.output.add_to(&mut uses);
        uses.write("--part", self.part.as_deref());
        uses.check()?;
        let spill = Spill::default();
        let parts = self.parts.iter().map(|path| read(path, &spill)).collect::<Result<Vec<Part>, Failure>>()?;
        let merged = Part::merge(parts)?;
        if let Some(file) = self.part.as_deref() {
            return Ok(output::write_by(Some(file), |to| merged.write(to))?);
        }
        if merged.is_of_sweep() { self.finish_sweep(merged) } else { self.finish(merged) }
    }

    /// Makes the steps across transcripts.
    fn finish(&self, merged: Part) -> Result<(), Failure> {
        let spec = merged.spec()?;
        let loaded = spec.load(&Unasked)?;
        let replayed = loaded.merged(merged)?;
        say_skipped(&replayed, (false, spec.read.strict));
        let replayed = if spec.read.strict { replayed.strict()? } else { replayed };
        let (results, end) = loaded.results(replayed)?;
        if results.rows.is_empty() {
            return Err(Failure::Usage("nothing could be replayed: no conversation holds a model call".to_owned()));
        }
        self.output.needs_findings(spec.findings)?;
        self.output.document("merge", &results)?;
        end_of(end, spec.read.strict)
    }

    /// Prints the results of a sweep, or fails with what its next stage is.
    fn finish_sweep(&self, merged: Part) -> Result<(), Failure> {
        let spec = merged.spec()?;
        let sizes = merged.sizes()?;
        say_skipped(&sizes, (false, spec.read.strict));
        let sizes = if spec.read.strict { sizes.strict()? } else { sizes };
        match LoadedSweep::new(&spec, &Unasked)?.merged(merged, sizes)? {
            SweepOfParts::Finished(results, end) => {
                self.output.needs_findings(false)?;
                self.output.document("merge", &*results)?;
                end_of(end, spec.read.strict)
            }
            SweepOfParts::Unfinished(next) => Err(Failure::Usage(format!(
                "the sweep has a further stage, {next}: merge these parts into one (recompact merge PART… --part SO-FAR), and replay \
                 the stage on each machine (recompact sweep … --after SO-FAR --part FILE)"
            ))),
        }
    }
}

/// Reads a part.
pub fn read(path: &Path, spill: &Spill) -> Result<Part, Failure> {
    let failed = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    Part::read(file, spill).map_err(|error| failed(error.to_string()))
}
