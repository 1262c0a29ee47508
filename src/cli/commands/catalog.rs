//! `recompact catalog`: lists everything of a kind, and prints the page of one entry.

use clap::Args;
use clap::builder::StringValueParser;
use recompact::analysis::export::{Target, targets};
use recompact::analysis::settings::{SettingDescription, common_settings, own_settings};
use recompact::engine::layer::{COMMON_SETTINGS, LAYERS, LayerKind};
use recompact::engine::policy::{PRESETS, Preset};
use recompact::engine::summarizer::SUMMARIZERS;
use recompact::findings::{FINDINGS, FindingKind};
use recompact::guide::adapters::ADAPTERS;
use recompact::llm::client::Purpose;
use recompact::llm::prompt::{PROMPTS, PromptKind, prompt};
use recompact::metrics::metric::{GROUPS, MetricGroup};
use recompact::metrics::prices::Prices;
use recompact::metrics::prompt_cache::{PROVIDERS, Provider};
use recompact::report::layer_settings::LayerSettings;
use recompact::report::{Layout, REPORTS};
use recompact::tokens::meter::{METERS, MeterDescription, RECORDED};
use recompact::transcript::format::FORMATS;
use recompact::util::text;

use crate::cli::args::suggestions::suggesting;
use crate::cli::error::Failure;
use crate::cli::output;

#[derive(Args)]
pub struct Catalog {
    /// Kind to list: formats, policies, layers, meters, summarizers, scorers, prompts, measures, findings, reports,
    /// schemas, prices, providers, harnesses, adapters, or all
    #[arg(hide_possible_values = true, value_parser = suggesting(kinds, StringValueParser::new()))]
    kind: Option<String>,
    /// Entry of that kind; prints its page
    name: Option<String>,
}

/// Means every kind.
const ALL: &str = "all";

fn kinds() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.name).chain([ALL]).collect()
}

/// An entry of the catalog.
struct CatalogEntry {
    name: String,
    about: String,
    page: String,
}

struct CatalogKind {
    name: &'static str,
    /// What its entries are, in a few words.
    about: &'static str,
    entries: fn() -> Vec<CatalogEntry>,
}

const KINDS: &[CatalogKind] = &[
    CatalogKind {
        name: "formats",
        about: "transcripts that can be read",
        entries: || FORMATS.iter().map(|f| entry(f.name, f.about, String::new())).collect(),
    },
    CatalogKind { name: "policies", about: "presets, for -p", entries: policies },
    CatalogKind { name: "layers", about: "what policies are made of, with their settings", entries: layers },
    CatalogKind {
        name: "meters",
        about: "how harnesses estimate tokens, for `meter` in a policy",
        entries: || METERS.iter().chain([&RECORDED]).map(meter).collect(),
    },
    CatalogKind { name: "summarizers", about: "who writes summaries, for --summarizer", entries: summarizers },
    CatalogKind { name: "scorers", about: "ways to ask a model how probable a given text is", entries: scorers },
    CatalogKind { name: "prompts", about: "what a model is asked that summarises", entries: prompts },
    CatalogKind { name: "measures", about: "groups of columns of the results", entries: measures },
    CatalogKind { name: "findings", about: "what can be wrong with a compaction", entries: findings },
    CatalogKind {
        name: "reports",
        about: "forms of output, for -o",
        entries: || REPORTS.iter().map(|r| entry(r.name, r.about, String::new())).collect(),
    },
    CatalogKind { name: "prices", about: "models with known prices, for --prices", entries: prices },
    CatalogKind { name: "schemas", about: "JSON Schemas of files, for editors and programs", entries: schemas },
    CatalogKind {
        name: "providers",
        about: "rules of prompt caches",
        entries: || PROVIDERS.iter().map(|p| entry(p.name, p.about, provider_page(p))).collect(),
    },
    CatalogKind {
        name: "harnesses",
        about: "agent harnesses whose settings can be written, for `export-settings --for`",
        entries: harnesses,
    },
    CatalogKind {
        name: "adapters",
        about: "code of agent libraries as policies, in Python",
        entries: || ADAPTERS.iter().map(|a| entry(a.name, a.about(), a.page().to_owned())).collect(),
    },
];

impl Catalog {
    pub fn run(self) -> Result<(), Failure> {
        let text = match (&self.kind, &self.name) {
            (None, _) => overview(),
            (Some(kind), None) if kind == ALL => KINDS.iter().map(list).collect::<Vec<_>>().join("\n"),
            (Some(kind), None) => list(kind_by_name(kind)?),
            (Some(kind), Some(name)) => entry_page(kind_by_name(kind)?, name)?,
        };
        Ok(output::write(None, text.as_bytes())?)
    }
}

/// Lists the kinds, each with what it is and the number of its entries.
fn overview() -> String {
    let line = |kind: &CatalogKind| {
        let count = (kind.entries)().len();
        wrapped(&format!("  {:<11}  {count:>3}  ", kind.name), kind.about)
    };
    let kinds: String = KINDS.iter().map(line).collect();
    let commands = [("KIND", "the entries of a kind"), ("KIND NAME", "the page of an entry"), (ALL, "all entries")];
    let line = |(arguments, what): (&str, &str)| format!("recompact catalog {arguments:<9}  {what}\n");
    format!("{kinds}\n{}", commands.map(line).concat())
}

fn kind_by_name(name: &str) -> Result<&'static CatalogKind, Failure> {
    KINDS.iter().find(|kind| kind.name == name || kind.name.strip_suffix('s') == Some(name)).ok_or_else(|| {
        let known = KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
        Failure::Usage(format!("the catalog has no `{name}` (known: {known})"))
    })
}

fn list(kind: &CatalogKind) -> String {
    let entries = (kind.entries)();
    let width = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    let line = |entry: &CatalogEntry| wrapped(&format!("  {:width$}  ", entry.name), &entry.about);
    format!("{}\n{}", kind.name, entries.iter().map(line).collect::<String>())
}

/// Wraps a text into lines that fit most terminals.
fn wrapped(begin: &str, text: &str) -> String {
    recompact::util::text::wrap(begin, text, 100)
}

fn entry_page(kind: &CatalogKind, name: &str) -> Result<String, Failure> {
    let entries = (kind.entries)();
    let unlisted = if kind.name == "prices" { price(name) } else { None };
    match entries.iter().find(|entry| entry.name == name).or(unlisted.as_ref()) {
        Some(entry) if entry.page.is_empty() => Ok(wrapped("", &format!("{}: {}", entry.name, entry.about))),
        Some(entry) => Ok(format!("{}\n", entry.page.trim_end())),
        None => {
            let known: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
            Err(Failure::Usage(format!("no `{name}` among the {} (known: {})", kind.name, known.join(", "))))
        }
    }
}

fn entry(name: &str, about: &str, page: String) -> CatalogEntry {
    CatalogEntry { name: name.to_owned(), about: about.to_owned(), page }
}

fn meter(page: &MeterDescription) -> CatalogEntry {
    entry(page.name, page.about, wrapped("Used by: ", page.source))
}

/// Returns the manual page at the start of a source file: its `//!` lines, paragraphs rewrapped, examples unchanged.
fn page(source: &str) -> String {
    let (mut page, mut paragraph, mut example) = (String::new(), String::new(), false);
    for line in text::doc_lines(source) {
        let fence = line.starts_with("```");
        if !(example || fence || line.is_empty()) {
            paragraph += &format!("{line} ");
            continue;
        }
        if !paragraph.is_empty() {
            page += &wrapped("", &std::mem::take(&mut paragraph));
        }
        page += &format!("{line}\n");
        example ^= fence;
    }
    if paragraph.is_empty() { page } else { page + &wrapped("", &paragraph) }
}

/// The name under which the settings of every layer are listed.
const COMMON: &str = "common";

/// Lists the kinds of layers, and the settings that all of them have.
fn layers() -> Vec<CatalogEntry> {
    let own = LAYERS.iter().map(|kind| entry(kind.name, &text::doc_about(kind.doc), layer_page(kind)));
    let table = settings_table("Settings of every layer", common_settings());
    own.chain([entry(COMMON, "the settings that every layer has: when it runs, above which size, and what it edits", table)])
        .collect()
}

/// Returns a layer's manual page and its settings.
fn layer_page(kind: &LayerKind) -> String {
    let settings = match own_settings(kind) {
        settings if settings.is_empty() => "It has no settings of its own.\n".to_owned(),
        settings => settings_table(&format!("Settings of {}", kind.name), settings),
    };
    let common = format!("{} (recompact catalog layers {COMMON})", COMMON_SETTINGS.join(", "));
    format!("{}\n{settings}\n{}", page(kind.doc), wrapped("Of every layer: ", &common))
}

/// Draws the table of settings.
fn settings_table(title: &str, settings: Vec<SettingDescription>) -> String {
    let drawn = REPORTS[0].render(&LayerSettings { title: title.to_owned(), settings }, &Layout::default());
    String::from_utf8_lossy(&drawn.unwrap_or_default()).into_owned()
}

fn policies() -> Vec<CatalogEntry> {
    let about = |preset: &Preset| match preset.policy(&[]) {
        Ok(policy) => {
            let known = [policy.evidence, policy.version].into_iter().flatten().collect::<Vec<_>>().join(", ");
            format!("({known}) {}", policy.about)
        }
        Err(_) => String::new(),
    };
    PRESETS.iter().map(|preset| entry(preset.name, &about(preset), preset.toml.to_owned())).collect()
}

/// Lists the forms of configuration that `recompact export-settings` writes; a page has the names of the settings.
fn harnesses() -> Vec<CatalogEntry> {
    let entry_of = |target: &Target| {
        let about = match &target.unavailable {
            None => format!("({}) {}", target.harness, target.about),
            Some(why) => format!("({}) not written: {why}", target.harness),
        };
        entry(&target.name, &about, target.page())
    };
    targets().iter().map(entry_of).collect()
}

/// Lists the summarizers without a model, then the ways to call a model.
fn summarizers() -> Vec<CatalogEntry> {
    let without_model = SUMMARIZERS.iter().map(|kind| (kind.name, kind.argument, kind.about));
    let without_model = without_model.map(|(name, argument, about)| addressed(name, argument, about));
    without_model.chain(protocols(Purpose::Write)).collect()
}

fn scorers() -> Vec<CatalogEntry> {
    protocols(Purpose::Score).collect()
}

fn protocols(purpose: Purpose) -> impl Iterator<Item = CatalogEntry> {
    purpose.protocols().map(|protocol| addressed(protocol.name, protocol.argument, protocol.about))
}

/// Returns an entry that shows how it is written with its argument.
fn addressed(name: &str, argument: &str, about: &str) -> CatalogEntry {
    match argument {
        "" => entry(name, about, String::new()),
        argument => entry(name, &format!("({name}{argument}) {about}"), String::new()),
    }
}

fn prompts() -> Vec<CatalogEntry> {
    let about = |kind: &PromptKind| prompt(kind.name).map(|prompt| prompt.about.clone()).unwrap_or_default();
    PROMPTS.iter().map(|kind| entry(kind.name, &about(kind), kind.toml.to_owned())).collect()
}

fn measures() -> Vec<CatalogEntry> {
    let columns = |group: &MetricGroup| {
        let columns = group.metrics.iter().map(|metric| &metric.column);
        columns
            .map(|column| {
                let estimated = if column.estimated { ", estimated" } else { "" };
                let unit = format!("{:?}", column.unit).to_lowercase();
                wrapped(&format!("{} ", column.id), &format!("({unit}{estimated}): {}", column.about))
            })
            .collect()
    };
    GROUPS.iter().map(|group| entry(group.name, group.about, columns(group))).collect()
}

fn findings() -> Vec<CatalogEntry> {
    let finding = |kind: &FindingKind| entry(kind.id, &format!("({}) {}", kind.level.name(), kind.about()), page(kind.doc));
    FINDINGS.iter().map(finding).collect()
}

/// A JSON Schema: of users' files, for editors, or of what the program writes.
struct CatalogSchema {
    name: &'static str,
    about: &'static str,
    schema: fn() -> serde_json::Value,
}

const SCHEMAS: &[CatalogSchema] = &[
    CatalogSchema {
        name: "policy",
        about: "the JSON Schema of a policy file; editors use it to complete settings and to mark errors",
        schema: recompact::engine::policy::schema,
    },
    CatalogSchema {
        name: "suite",
        about: "the JSON Schema of a suite file, which `recompact check` reads",
        schema: recompact::analysis::gate::schema,
    },
    CatalogSchema {
        name: "results",
        about: "the JSON Schema of results, which `-o json` writes; programs that read results can rely on it",
        schema: recompact::report::answer::schema,
    },
];

fn schemas() -> Vec<CatalogEntry> {
    SCHEMAS.iter().map(|schema| entry(schema.name, schema.about, format!("{:#}", (schema.schema)()))).collect()
}

/// Lists the prices of the project's own list, and says how many more models have one: a line shows the latest price.
fn prices() -> Vec<CatalogEntry> {
    let list = Prices::built_in();
    let own = list.names();
    let others = list.all_names().len() - own.len();
    let about = format!("{others} other models, as in LiteLLM's table: `recompact catalog prices MODEL`");
    own.iter().filter_map(|name| price(name)).chain([entry("…", &about, String::new())]).collect()
}

/// Returns the entry of a model with a known price; its page has all prices of the model.
fn price(name: &str) -> Option<CatalogEntry> {
    let list = Prices::built_in();
    let pages: Vec<_> = list.entries(name).iter().map(|price| price.to_toml()).collect();
    (!pages.is_empty()).then(|| entry(name, &list.quote(Some(name), None).price.line(), pages.join("\n")))
}

fn provider_page(provider: &Provider) -> String {
    let lookup = match provider.look_back {
        Some(blocks) => format!("at the cache breakpoints of an earlier request, within {blocks} blocks"),
        None => "up to the first difference between two requests".to_owned(),
    };
    let lifetime = if provider.long_minutes == provider.minutes {
        format!("{} minutes after its last use", provider.minutes)
    } else {
        format!("{} minutes after its last use, {} at the longer price", provider.minutes, provider.long_minutes)
    };
    let granularity = match (provider.step, provider.step_offset) {
        (1, 0) => "any number of tokens".to_owned(),
        (step, 0) => format!("multiples of {step} tokens"),
        (step, offset) => format!("multiples of {step} tokens, less {offset}"),
    };
    [
        wrapped("", &format!("{}: {}", provider.name, provider.about)),
        wrapped("Prefix lookup:     ", &lookup),
        wrapped("Read granularity:  ", &granularity),
        wrapped("Lifetime:          ", &lifetime),
        wrapped("Source:            ", provider.source),
    ]
    .concat()
}
