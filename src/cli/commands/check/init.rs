//! `recompact check --init`: writes a first suite for a folder of transcripts, with limits that hold today.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use recompact::analysis::ReplayHooks;
use recompact::analysis::corpus::{ReadSpec, Source};
use recompact::analysis::gate::{Draft, DraftLimit, Gate, draft_file, draft_limits};
use recompact::analysis::spec::{Loaded, StudySpec};
use recompact::analysis::usual::usual_policies;
use recompact::analysis::verdict::verdict;
use recompact::engine::policy::preset;
use recompact::results::saved::Results;
use recompact::transcript::format::Reading;
use recompact::transcript::source::display_path;
use recompact::util::text::plural;

use crate::cli::error::Failure;
use crate::cli::input::Transcripts;
use crate::cli::output::{self, OutputError};
use crate::cli::resources::CommandResources;
use crate::cli::session_folders;

/// Writes the suite file for the transcripts in a path, or for the sessions on this machine, and says what to do next.
///
/// # Errors
///
/// Fails if the file is there already, if a transcript cannot be read, and if nothing can be replayed or limited.
pub fn write_suite(file: &Path, given: Option<&Path>, run: (bool, Option<usize>)) -> Result<(), Failure> {
    if file.exists() {
        return Err(OutputError::Exists(file.to_owned()).into());
    }
    let base = file.parent().unwrap_or(Path::new(""));
    let folders = given.map_or_else(session_folders::find, |path| Ok(vec![path.to_owned()]))?;
    let mut drafts = Vec::new();
    for folder in &folders {
        let path = relative(base, folder)?;
        let transcripts = Transcripts::of_suite(std::slice::from_ref(&path), base, &ReadSpec::default(), run)?;
        // Of the usual folders, some are empty.
        if folders.len() == 1 || !transcripts.corpus()?.inputs().is_empty() {
            // What is skipped is said once.
            let quiet = Transcripts::of_suite(std::slice::from_ref(&path), base, &ReadSpec::default(), (true, run.1))?;
            drafts.push(draft(base, path, [&transcripts, &quiet])?);
        }
    }
    output::write_new(file, draft_file(&drafts.iter().map(|(draft, _)| draft.clone()).collect::<Vec<_>>()).as_bytes())?;
    Ok(output::write(None, next(file, &drafts).as_bytes())?)
}

/// Returns a suite for these transcripts, and how many they are.
fn draft(base: &Path, path: String, [transcripts, quiet]: [&Transcripts; 2]) -> Result<(Draft, usize), Failure> {
    let formats = formats(transcripts)?;
    let (policy, why) = match Vec::from_iter(&formats)[..] {
        [format] if let Some(preset) = preset(format) => (
            preset.name.to_owned(),
            format!("The preset of the harness that recorded these transcripts, whose format is {format}."),
        ),
        _ => (first_of_usual(base, quiet, &formats)?, "The first of the presets that `recompact replay` compares.".to_owned()),
    };
    let name = Vec::from_iter(formats).join(" and ");
    let any = DraftLimit { written: "calls >= 1".to_owned(), about: "", why: String::new() };
    let draft = Draft { name, transcripts: path, policy, why, limits: vec![any] };
    // Measured just as the suite will be.
    let gate = Gate::parse(&draft_file(std::slice::from_ref(&draft)), "the new suite")?;
    let (results, loaded) = replayed(&gate.suites[0].table.study, base, quiet)?;
    let limits = draft_limits(&results, &loaded.policies[0]);
    let count = results.summary.first().map_or(0, |summary| summary.transcripts);
    if limits.is_empty() {
        return Err(Failure::Usage(format!("{}: no column has a value here, so nothing can be limited", draft.transcripts)));
    }
    Ok((Draft { limits, ..draft }, count))
}

/// Returns the formats of the transcripts in which a model was called.
fn formats(transcripts: &Transcripts) -> Result<BTreeSet<&'static str>, Failure> {
    let of_calls = |_: Source, reading: &Reading| {
        let called = reading.conversations.iter().filter(|conversation| !conversation.calls.is_empty());
        called.map(|conversation| conversation.format).collect::<Vec<_>>()
    };
    let analysed = transcripts.for_each(&[], of_calls)?.analysed()?;
    analysed.end?;
    let formats: BTreeSet<_> = analysed.results.into_iter().flatten().collect();
    match formats.is_empty() {
        true => Err(Failure::Usage("nothing can be replayed: no conversation holds a model call".to_owned())),
        false => Ok(formats),
    }
}

/// Returns the first policy of the verdict over the policies that a replay compares.
fn first_of_usual(base: &Path, transcripts: &Transcripts, formats: &BTreeSet<&'static str>) -> Result<String, Failure> {
    let policies = usual_policies(formats.iter().copied()).into_iter().map(Into::into).collect();
    let (results, _) = replayed(&StudySpec { policies, ..StudySpec::default() }, base, transcripts)?;
    let verdict = verdict(&results);
    let first = verdict.as_ref().and_then(|verdict| Some(verdict.candidates().next()?.policy().to_owned()));
    first.ok_or_else(|| Failure::Usage("no policy could be replayed".to_owned()))
}

fn replayed(spec: &StudySpec, base: &Path, transcripts: &Transcripts) -> Result<(Results, Loaded), Failure> {
    let loaded = spec.load(&CommandResources { base: base.to_owned(), ..CommandResources::default() })?;
    let replayed = transcripts.process(&[], |corpus, monitor| loaded.replay(corpus, monitor, ReplayHooks::default()))?;
    let (results, end) = transcripts.install(|| loaded.results(replayed))??;
    end?;
    Ok((results, loaded))
}

/// Returns a path as suites have it: relative to the folder of the suite file.
fn relative(base: &Path, to: &Path) -> Result<String, Failure> {
    let wrong = |path: &Path, what: String| Failure::Usage(format!("{}: {what}", display_path(path)));
    let absolute = |path: &Path| fs::canonicalize(path).map_err(|error| wrong(path, format!("{error}; name a file or a folder")));
    let base = if base.as_os_str().is_empty() { Path::new(".") } else { base };
    let (from, target) = (absolute(base)?, absolute(to)?);
    let shared = from.components().zip(target.components()).take_while(|(one, other)| one == other).count();
    if shared == 0 {
        return Err(wrong(to, "no path leads to it from the folder of the suite file".to_owned()));
    }
    let up = from.components().skip(shared).map(|_| Path::new(".."));
    let path: PathBuf = up.chain(target.components().skip(shared).map(|part| Path::new(part.as_os_str()))).collect();
    let path = path.to_str().ok_or_else(|| wrong(to, "a path that is no UTF-8 cannot be in a suite file".to_owned()))?;
    Ok(if path.is_empty() { ".".to_owned() } else { path.replace(std::path::MAIN_SEPARATOR, "/") })
}

/// What was written, and what to do with it.
fn next(file: &Path, drafts: &[(Draft, usize)]) -> String {
    let shown = |text: &str| recompact::report::escape::terminal(text).into_owned();
    let file = shown(&display_path(file));
    let suite = |(draft, count): &(Draft, usize)| {
        let Draft { name, transcripts, policy, limits, .. } = draft;
        let (count, limits) = (plural(*count, "transcript"), plural(limits.len(), "limit"));
        format!("  {name}: {count} of {}, policy {policy}, {limits}\n", shown(transcripts))
    };
    let suites: String = drafts.iter().map(suite).collect();
    let check = if file == "recompact.toml" { "recompact check".to_owned() } else { format!("recompact check {file}") };
    let steps = [
        (check.clone(), "passes now; exit code 1 if a limit does not hold"),
        (format!("{check} --update"), "also writes the values of today, for tolerances"),
        (format!("git add {file}"), "with the transcripts: every machine needs the same"),
    ];
    let width = steps.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    let steps: String = steps.iter().map(|(command, why)| format!("  {command:width$}  {why}\n")).collect();
    let is_outside = drafts.iter().any(|(draft, _)| draft.transcripts.starts_with(".."));
    let outside = "Transcripts outside of the folder of the suite file are on this machine only: copy those that the check needs\n\
                   into it, and begin again with `--init FOLDER`.\n";
    let outside = if is_outside { outside } else { "" };
    let workflow = "In a workflow of GitHub Actions (recompact guide ci):\n  - uses: actions/checkout@v4\n  - uses: ./recompact\n    with:\n";
    format!("{file} was written:\n{suites}{outside}\nNext\n{steps}\n{workflow}      suite: {file}\n")
}
