//! Lists generated from the code, as Markdown, for the place between `<!-- NAME -->` and `<!-- end of NAME -->`.

use std::fs;
use std::ops::Range;
use std::path::Path;

use recompact::analysis::export::{TARGETS, TargetFile};
use recompact::analysis::settings::{SettingDescription, common_settings, own_settings};
use recompact::engine::layer::{COMMON_SETTINGS, LAYERS};
use recompact::engine::policy::PRESETS;
use recompact::engine::summarizer::SUMMARIZERS;
use recompact::facts::extract::FactKind;
use recompact::facts::references::{LENGTHS, MEASURED};
use recompact::findings::{FINDINGS, FindingKind};
use recompact::llm::client::{Protocol, Purpose};
use recompact::llm::prompt::{PROMPTS, prompt};
use recompact::metrics::column::{Aggregation, Column, ColumnId, Direction};
use recompact::metrics::metric::{GROUPS, MetricGroup};
use recompact::metrics::prompt_cache::PROVIDERS;
use recompact::report::REPORTS;
use recompact::tokens::meter::{METERS, RECORDED};

use super::{measures, surprise};
use crate::support::program::{files, fixtures, run_in};

/// A default value that is longer, such as a template, is left out.
const LONGEST_DEFAULT: usize = 14;

/// A generated block.
pub struct Block {
    pub name: &'static str,
    pub make: fn() -> String,
}

/// Every block, each on one page.
pub const BLOCKS: &[Block] = &[
    Block { name: "audited", make: audited },
    Block { name: "cache rules", make: measures::cache_rules },
    Block { name: "columns", make: columns },
    Block { name: "findings", make: findings },
    Block { name: "forgotten", make: forgotten },
    Block { name: "gate", make: failed_gate },
    Block { name: "harnesses", make: harnesses },
    Block { name: "layers", make: layers },
    Block { name: "meters", make: meters },
    Block { name: "presets", make: presets },
    Block { name: "prompts", make: prompts },
    Block { name: "providers", make: providers },
    Block { name: "reports", make: reports },
    Block { name: "scorers", make: scorers },
    Block { name: "screen", make: screen },
    Block { name: "settings", make: settings },
    Block { name: "shortest prefixes", make: measures::shortest_prefixes },
    Block { name: "summarizers", make: summarizers },
    Block { name: "surprise bits", make: surprise::bits },
    Block { name: "surprise controls", make: surprise::controls },
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

/// The screen that a page reads line by line.
fn screen() -> String {
    let arguments = ["replay", "fixtures/transcripts/claude-code", "--window", "80k", "--width", "100"];
    format!("```text\n{}```\n", run_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments, b"").printed())
}

/// What the recorded compaction of another audit lost.
fn forgotten() -> String {
    let arguments = ["audit", "fixtures/audit/forgetful", "--show", "compactions"];
    format!("```text\n{}```\n", run_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments, b"").printed())
}

/// The screen of the audit that the page runs.
fn audited() -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    format!("```text\n{}```\n", run_in(here, ["audit", "fixtures/audit/damaged"], b"").printed())
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
    let (rules, _) = screen.split_once("\nNext\n").expect("a screen");
    format!("```text\n{rules}```\n")
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

/// The bits of every kind and length.
fn worth() -> String {
    let head: Vec<&str> = std::iter::once("bits").chain(LENGTHS.iter().map(|(name, _)| *name)).collect();
    let row = |kind: FactKind| {
        let bits = (0..LENGTHS.len()).map(|length| format!("{:.0}", MEASURED.of([kind as usize, length])));
        std::iter::once(kind.name().to_owned()).chain(bits).collect::<Vec<_>>()
    };
    table(head, FactKind::ALL.map(row))
}

fn columns() -> String {
    GROUPS.iter().map(of_group).collect::<Vec<_>>().join("\n")
}

fn of_group(group: &MetricGroup) -> String {
    let row = |column: &Column| {
        let marks = format!("{}{}", if column.estimated { " ~" } else { "" }, if column.detail { " *" } else { "" });
        [
            code(&column.id) + &marks,
            format!("{:?}", column.unit).to_lowercase(),
            match column.better {
                Direction::Lower => "lower",
                Direction::Higher => "higher",
                Direction::Neither => "",
            }
            .to_owned(),
            total(&column.combine),
            column.about.clone().into_owned(),
        ]
    };
    let head = ["column", "unit", "better", "total", "what it counts"];
    format!(
        "## Metric `{}`\n\n{}.\n\n{}",
        group.name,
        capitalised(group.about),
        table(head, group.metrics.iter().map(|metric| row(&metric.column)))
    )
}

fn capitalised(text: &str) -> String {
    let first = text.chars().next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + text.trim_end_matches('.').get(1..).unwrap_or_default()
}

fn total(combine: &Aggregation) -> String {
    let share = |over: &ColumnId, under: &ColumnId| format!("`{over}` ÷ `{under}`");
    match combine {
        Aggregation::Nothing => "none".to_owned(),
        Aggregation::Sum => "sum".to_owned(),
        Aggregation::Max => "maximum".to_owned(),
        Aggregation::Mean => "mean".to_owned(),
        Aggregation::Ratio { over, under } => share(over, under),
        Aggregation::Saving { over, under } => format!("1 − {}", share(over, under)),
        Aggregation::Weighted { by } => format!("mean by `{by}`"),
    }
}

fn findings() -> String {
    let (replays, files): (Vec<&FindingKind>, Vec<&FindingKind>) = FINDINGS.iter().partition(|kind| kind.detect.is_some());
    let list = |kinds: Vec<&FindingKind>| {
        let row = |kind: &FindingKind| [code(kind.id), kind.level.name().to_owned(), kind.about()];
        table(["finding", "level", "what is wrong"], kinds.into_iter().map(row))
    };
    let (of_replays, of_files) = (replays.len(), files.len());
    format!(
        "{of_replays} kinds are found in replays:\n\n{}\n{of_files} kinds are found in files, by `recompact audit`:\n\n{}",
        list(replays),
        list(files)
    )
}

/// What `recompact export-settings` writes, and what it does not.
fn harnesses() -> String {
    let row = |file: &TargetFile| {
        let target = file.target();
        let settings: Vec<String> = target.settings().iter().map(|setting| code(setting)).collect();
        let written = match &target.unavailable {
            None => settings.join(", "),
            Some(why) => format!("nothing: {why}"),
        };
        [code(&target.harness), code(&target.name), written]
    };
    table(["harness", "form", "settings that it has"], TARGETS.iter().map(row))
}

fn layers() -> String {
    let rows = LAYERS.iter().map(|kind| [code(kind.name), recompact::util::text::doc_about(kind.doc)]);
    let common: Vec<_> = COMMON_SETTINGS.iter().map(|setting| code(setting)).collect();
    format!("{}\nEvery layer has the settings {}.\n", table(["layer", "what it does"], rows), common.join(", "))
}

fn meters() -> String {
    let rows = METERS.iter().chain([&RECORDED]).map(|meter| [code(meter.name), meter.about.to_owned()]);
    table(["meter", "what it computes"], rows)
}

fn presets() -> String {
    let rows = PRESETS.iter().map(|preset| {
        let policy = preset.policy(&[]).unwrap_or_else(|error| panic!("{error}"));
        [code(preset.name), policy.about, policy.evidence.unwrap_or_default()]
    });
    table(["preset", "what it replays", "evidence"], rows)
}

fn prompts() -> String {
    let about = |name| prompt(name).map(|prompt| prompt.about.clone()).unwrap_or_default();
    table(["prompt", "what it asks for"], PROMPTS.iter().map(|kind| [code(kind.name), about(kind.name)]))
}

fn providers() -> String {
    let rows = PROVIDERS.iter().map(|provider| [code(provider.name), provider.about.to_owned(), provider.source.to_owned()]);
    table(["provider", "rules", "source"], rows)
}

fn reports() -> String {
    let rows = REPORTS.iter().map(|report| [code(report.name), report.about.to_owned()]);
    table(["report", "what it is for"], rows)
}

fn settings() -> String {
    let of_kinds = LAYERS.iter().map(|kind| (code(kind.name), own_settings(kind)));
    let all = of_kinds.chain([("every layer".to_owned(), common_settings())]);
    // What an earlier layer has, too, is said once.
    let mut said: Vec<(String, String, String)> = Vec::new();
    let tables = all.filter(|(_, settings)| !settings.is_empty()).map(|(name, settings)| {
        let (mut rows, mut earlier) = (Vec::new(), Vec::new());
        for [setting, kind, default, meaning] in settings.iter().map(in_short) {
            match said.iter().find(|(other, text, _)| *other == setting && *text == meaning) {
                Some((.., layer)) => earlier.push(format!("{setting} ({layer})")),
                None => {
                    said.push((setting.clone(), meaning.clone(), name.clone()));
                    rows.push([setting, kind, default, meaning]);
                }
            }
        }
        let title = if name.starts_with('`') { format!("The layer {name}") } else { "Every layer".to_owned() };
        let others = if earlier.is_empty() {
            String::new()
        } else {
            format!("\nAs for the layer in parentheses: {}.\n", earlier.join(", "))
        };
        format!("## {title}\n\n{}{others}", table(["setting", "type", "default", "meaning"], rows))
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// A setting in a line: the first sentence of what it does, and the names of its values. `recompact catalog layers` says more.
fn in_short(setting: &SettingDescription) -> [String; 4] {
    let first = setting.about.split_once(". ").map_or(setting.about.as_str(), |(first, _)| first).trim_end_matches('.');
    let values: Vec<String> = setting.choices.iter().map(|choice| choice.value.replace('"', "")).collect();
    let values = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
    let unit = setting.unit.as_ref().map(|unit| format!(", {unit}")).unwrap_or_default();
    let default = setting.default.as_ref().filter(|default| default.chars().count() <= LONGEST_DEFAULT);
    [
        code(&setting.name),
        format!("{}{unit}", setting.kind),
        default.map(|default| code(default)).unwrap_or_default(),
        format!("{first}{values}"),
    ]
}

fn summarizers() -> String {
    let alone = SUMMARIZERS.iter().map(|kind| (kind.name, kind.argument, kind.about));
    let rows = alone.chain(Purpose::Write.protocols().map(parts)).map(writing);
    table(["summarizer", "how it is written", "what it is"], rows)
}

fn scorers() -> String {
    table(["protocol", "how it is written", "what it is"], Purpose::Score.protocols().map(parts).map(writing))
}

fn parts(protocol: &Protocol) -> (&'static str, &'static str, &'static str) {
    (protocol.name, protocol.argument, protocol.about)
}

fn writing((name, argument, about): (&str, &str, &str)) -> [String; 3] {
    [code(name), code(&format!("{name}{argument}")), about.split_whitespace().collect::<Vec<_>>().join(" ")]
}
