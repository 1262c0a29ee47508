//! Lists generated from the code, as Markdown, for the place between `<!-- NAME -->` and `<!-- end of NAME -->`.

use std::fs;
use std::ops::Range;
use std::path::Path;

use recompact::analysis::export::{Target, targets};
use recompact::engine::layer::{COMMON_SETTINGS, LAYERS};
use recompact::engine::policy::{PRESETS, PROPOSALS};
use recompact::engine::summarizer::SUMMARIZERS;
use recompact::facts::references::MEASURED;
use recompact::findings::{FINDINGS, Level};
use recompact::llm::client::{Protocol, Purpose};
use recompact::llm::prompt::PROMPTS;
use recompact::report::REPORTS;
use recompact::tokens::meter::{METERS, RECORDED};
use recompact::transcript::format::{FORMATS, Format, SessionFolder};
use recompact::util::text::wrap;
use serde_json::Value;

use super::{measures, surprise};
use crate::support::program::{files, fixtures, run, run_in};

/// A generated block.
pub struct Block {
    pub name: &'static str,
    pub make: fn() -> String,
}

/// Every block, each on one page.
pub const BLOCKS: &[Block] = &[
    Block { name: "audited", make: audited },
    Block { name: "cache rules", make: measures::cache_rules },
    Block { name: "column", make: column_page },
    Block { name: "findings", make: findings },
    Block { name: "formats", make: formats },
    Block { name: "gate", make: failed_gate },
    Block { name: "harnesses", make: harnesses },
    Block { name: "layers", make: layers },
    Block { name: "meters", make: meters },
    Block { name: "presets", make: presets },
    Block { name: "prompts", make: prompts },
    Block { name: "proposals", make: proposals },
    Block { name: "reports", make: reports },
    Block { name: "screen", make: screen },
    Block { name: "shortest prefixes", make: measures::shortest_prefixes },
    Block { name: "summarizers", make: summarizers },
    Block { name: "surprise bits", make: surprise::bits },
    Block { name: "surprise controls", make: surprise::controls },
    Block { name: "surprise needs", make: surprise::needs },
    Block { name: "surprise prediction", make: surprise::prediction },
    Block { name: "surprise worth", make: surprise::worth },
    Block { name: "ten lines", make: measures::ten_lines },
    Block { name: "worth", make: worth },
];

impl Block {
    /// Returns where the block begins and ends in a page, if the page has it.
    pub fn place(&self, page: &str) -> Option<Range<usize>> {
        let (first, last) = (format!("<!-- {} -->\n", self.name), format!("<!-- end of {} -->\n", self.name));
        let begin = page.find(&first)? + first.len();
        Some(begin..begin + page[begin..].find(&last)?)
    }
}

/// The formats, and where a run without a path looks for their sessions.
fn formats() -> String {
    let place = |SessionFolder { home, sessions, .. }: &SessionFolder| {
        let home = home.map_or(String::new(), |home| format!("~/{home}/"));
        format!("`{home}{sessions}`")
    };
    // A variable is behind all the places that it names.
    let places = |folders: &[SessionFolder]| {
        let variable = folders[0].variable.map_or(String::new(), |variable| format!(" (`${variable}`)"));
        folders.iter().map(place).collect::<Vec<_>>().join(", ") + &variable
    };
    let row = |format: &Format| {
        let groups = format.folders.chunk_by(|one, other| one.variable == other.variable);
        [code(format.name), groups.map(places).collect::<Vec<_>>().join(", ")]
    };
    table(["format", "where, if no path is named"], FORMATS.iter().map(row))
}

/// The screen that a page reads line by line.
fn screen() -> String {
    let arguments = ["replay", "fixtures/transcripts/claude-code", "--window", "80k", "--width", "100"];
    format!("```text\n{}```\n", run_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments, b"").printed())
}

/// The screen of the audit that the page runs: the table, and what to change.
fn audited() -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let screen = run_in(here, ["audit", "fixtures/audit/damaged"], b"").printed();
    let (above, rest) = screen.split_once("\nCheck before you trust it\n").expect("what to check");
    let (_, rest) = rest.split_once("\nWhat to change\n").expect("what to change");
    let (change, _) = rest.split_once("\nNext\n").expect("a screen");
    format!("```text\n{above}\nWhat to change\n{change}```\n")
}

/// What the suite of the fixtures says when its policy keeps three results and not twelve.
fn failed_gate() -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let all = fixtures().parent().expect("the folder of all fixtures").to_owned();
    for (path, bytes) in ["gate", "transcripts"].iter().flat_map(|part| files(&all.join(part))) {
        let to = folder.path().join(path.strip_prefix(&all).expect("a fixture"));
        fs::create_dir_all(to.parent().expect("a folder")).expect("the folder is made");
        fs::write(to, bytes).expect("the file is written");
    }
    let gate = folder.path().join("gate");
    let policy = fs::read_to_string(gate.join("policy.toml")).expect("the policy");
    assert!(policy.contains("keep_recent = 12"), "{policy}");
    fs::write(gate.join("policy.toml"), policy.replace("keep_recent = 12", "keep_recent = 3")).expect("the policy is written");
    let screen = run_in(&gate, ["check", "recompact.toml", "--width", "100"], b"").stdout;
    // The second rule says the same of the tolerance.
    let (rules, _) = screen.split_once("recompact.toml:17").expect("two rules");
    format!("```text\n{rules}…\n```\n")
}

pub fn table<'a>(head: impl AsRef<[&'a str]>, rows: impl IntoIterator<Item = impl AsRef<[String]>>) -> String {
    let head = head.as_ref();
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let row = |row: &[String]| {
        assert_eq!(row.len(), head.len(), "as many cells as columns");
        line(&row.iter().map(|cell| escaped(cell)).collect::<Vec<_>>())
    };
    let rows: String = rows.into_iter().map(|cells| row(cells.as_ref())).collect();
    let head: Vec<String> = head.iter().map(|name| (*name).to_owned()).collect();
    format!("{}|{}\n{rows}", line(&head), "---|".repeat(head.len()))
}

/// Escapes text that would end a cell or begin a link or an element.
fn escaped(cell: &str) -> String {
    let plain = |text: &str| ['|', '[', '<'].iter().fold(text.to_owned(), |text, c| text.replace(*c, &format!("\\{c}")));
    let parts = cell.split('`').enumerate().map(|(at, part)| if at % 2 == 0 { plain(part) } else { part.replace('|', "\\|") });
    parts.collect::<Vec<_>>().join("`")
}

pub fn code(name: &str) -> String {
    format!("`{name}`")
}

/// What each proposal does with the fixtures, in percent of no compaction.
fn proposals() -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).with_extension("toml").to_string_lossy().into_owned();
    PROPOSALS.iter().for_each(|proposal| fs::write(path(proposal.name), proposal.toml).expect("the file is written"));
    let policies = PROPOSALS.iter().map(|proposal| path(proposal.name)).collect::<Vec<_>>().join(",");
    let sessions = fixtures().join("claude-code").to_string_lossy().into_owned();
    let replayed = run(["replay", &sessions, "--window", "80k", "-q", "-o", "json", "-p", "keep-all", "-p", &policies]).json();
    let rows = replayed["rows"].as_array().expect("rows");
    let total = |policy: &str, value: &dyn Fn(&Value) -> Option<f64>| -> f64 {
        rows.iter().filter(|row| row["policy"] == policy).filter_map(|row| value(&row["values"])).sum()
    };
    let of_all = |policy: &str, column: &str| {
        let sum = |policy| total(policy, &|values| values[column].as_f64());
        format!("{:.0}", 100.0 * sum(policy) / sum("keep-all"))
    };
    let kept = |policy: &str| {
        let weight = |values: &Value| values["kept.weight"].as_f64();
        let hit = total(policy, &|values| Some(weight(values)? * values["kept.hit"].as_f64()?));
        format!("{:.0}", 100.0 * hit / total(policy, &weight))
    };
    let row = |name: &str| {
        let policy = format!("my-{name}");
        [code(name), of_all(&policy, "tokens.sent"), of_all(&policy, "cost.usd"), kept(&policy)]
    };
    table(["proposal", "tokens sent", "cost", "`kept.hit`"], PROPOSALS.iter().map(|proposal| row(proposal.name)))
}

/// The factors of the bits that a use weighs.
fn worth() -> String {
    let of = |by: &str| {
        let groups: Vec<_> = MEASURED.groups().filter(|(of, ..)| *of == by).collect();
        let names: Vec<&str> = std::iter::once(by).chain(groups.iter().map(|(_, name, _)| *name)).collect();
        let factors = groups.iter().map(|(.., factor)| factor.to_string());
        table(names, [std::iter::once("factor".to_owned()).chain(factors).collect::<Vec<_>>()])
    };
    format!("{}\n{}", of("kind"), of("length"))
}

/// Names of all kinds of findings, by where they are found and by level; `recompact catalog findings` says what each means.
fn findings() -> String {
    let levels = [Level::Error, Level::Warning, Level::Note];
    let names = |in_replay: bool, level: Level| {
        let kinds = FINDINGS.iter().filter(|kind| kind.detect.is_some() == in_replay && kind.level == level);
        kinds.map(|kind| code(kind.id)).collect::<Vec<_>>().join(", ")
    };
    let rows = levels.map(|level| [level.name().to_owned(), names(true, level), names(false, level)]);
    table(["level", "in replays", "only in files, by `recompact audit`"], rows)
}

/// How many forms of configuration `recompact export-settings` writes, and those that it cannot write.
fn harnesses() -> String {
    let (without, written): (Vec<&Target>, Vec<&Target>) = targets().iter().partition(|target| target.unavailable.is_some());
    let without = without.iter().map(|target| code(&target.name)).collect::<Vec<_>>().join(" and ");
    let (count, command) = (written.len(), "recompact export-settings");
    wrap(
        "",
        &format!("`{command}` lists {count} forms. Of {without} there is none: `recompact catalog harnesses` says why."),
        100,
    )
}

fn layers() -> String {
    let rows = LAYERS.iter().map(|kind| [code(kind.name), recompact::util::text::doc_about(kind.doc)]);
    let common: Vec<_> = COMMON_SETTINGS.iter().map(|setting| code(setting)).collect();
    format!("{}\nEvery layer has the settings {}.\n", table(["layer", "what it does"], rows), common.join(", "))
}

fn meters() -> String {
    names(METERS.iter().chain([&RECORDED]).map(|meter| meter.name))
}

/// What each kind of evidence means, the best first.
const EVIDENCE: [(&str, &str); 6] = [
    ("library", "a test asks the program itself: its requests are the same over our recordings ([validation])"),
    ("live", "a test runs the whole program with a scripted model: its requests are the same"),
    ("code", "we read its source"),
    ("documents", "the vendor's documentation"),
    ("analyses", "descriptions by third parties"),
    ("ours", "bounds, and an example"),
];

/// How many presets are known in which way; `recompact catalog policies` says it of each.
fn presets() -> String {
    let evidence: Vec<_> =
        PRESETS.iter().map(|preset| preset.policy(&[]).unwrap_or_else(|error| panic!("{error}")).evidence).collect();
    let count = |name: &str| evidence.iter().filter(|evidence| evidence.as_deref() == Some(name)).count();
    assert_eq!(EVIDENCE.iter().map(|(name, _)| count(name)).sum::<usize>(), PRESETS.len(), "a kind of evidence is missing");
    let cells = EVIDENCE.map(|(name, means)| [code(name), means.to_owned(), count(name).to_string()]);
    // The name of a page is a link.
    table(["evidence", "how we know the numbers", "presets"], cells).replace("\\[validation]", "[validation]")
}

/// A list of names, in lines of a page.
fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    wrap("", &names.map(code).collect::<Vec<_>>().join(", "), 100)
}

/// A page that `recompact catalog` prints, as a sample.
fn catalog(kind: &str, name: &str) -> String {
    let printed = run(["catalog", kind, name]).printed();
    format!("```text\n{printed}```\n")
}

fn column_page() -> String {
    catalog("measures", "kept.chance")
}

fn prompts() -> String {
    names(PROMPTS.iter().map(|prompt| prompt.name))
}

fn reports() -> String {
    let rows = REPORTS.iter().map(|report| writing((report.name, "", report.about)));
    table(["report", "what it is"], rows.map(|[name, _, about]| [name, about]))
}

fn summarizers() -> String {
    let alone = SUMMARIZERS.iter().map(|kind| (kind.name, kind.argument, kind.about));
    let rows = alone.chain(Purpose::Write.protocols().map(parts)).map(writing);
    table(["summarizer", "how it is written", "what it is"], rows)
}

fn parts(protocol: &Protocol) -> (&'static str, &'static str, &'static str) {
    (protocol.name, protocol.argument, protocol.about)
}

/// How something is written, and the first clause of what it is; `recompact catalog` says the rest.
fn writing((name, argument, about): (&str, &str, &str)) -> [String; 3] {
    let words = about.split_whitespace().collect::<Vec<_>>().join(" ");
    let clause = words.split([',', ':', ';']).next().unwrap_or_default();
    [code(name), code(&format!("{name}{argument}")), clause.to_owned()]
}
