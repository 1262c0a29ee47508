//! `recompact catalog`: what there is, and the page of each.

use clap::Args;
use recompact::engine::layer::{COMMON_SETTINGS, LAYERS, LayerKind};
use recompact::engine::policy::PRESETS;
use recompact::engine::summarizer::SUMMARIZERS;
use recompact::findings::{FINDINGS, FindingKind};
use recompact::llm::client::PROTOCOLS;
use recompact::llm::prompt::{PROMPTS, PromptKind, prompt};
use recompact::metrics::metric::METRICS;
use recompact::metrics::prices::Prices;
use recompact::metrics::prompt_cache::{PROVIDERS, Provider};
use recompact::report::REPORTS;
use recompact::tokens::meter::{METERS, MeterPage, RECORDED};
use recompact::transcript::format::FORMATS;
use recompact::util::text;

use crate::cli::error::Failure;
use crate::cli::output;

#[derive(Args)]
pub struct Catalog {
    /// formats, policies, layers, meters, summarizers, prompts, measures, findings, reports, schemas, prices or providers
    kind: Option<String>,
    /// One of that kind: prints its page
    name: Option<String>,
}

/// A thing in the catalog.
struct Entry {
    name: String,
    about: String,
    page: String,
}

struct Kind {
    name: &'static str,
    entries: fn() -> Vec<Entry>,
}

const KINDS: &[Kind] = &[
    Kind { name: "formats", entries: || FORMATS.iter().map(|f| entry(f.name, f.about, String::new())).collect() },
    Kind { name: "policies", entries: policies },
    Kind {
        name: "layers",
        entries: || LAYERS.iter().map(|kind| entry(kind.name, &text::doc_about(kind.source), layer_page(kind))).collect(),
    },
    Kind { name: "meters", entries: || METERS.iter().chain([&RECORDED]).map(meter).collect() },
    Kind { name: "summarizers", entries: summarizers },
    Kind { name: "prompts", entries: prompts },
    Kind { name: "measures", entries: measures },
    Kind { name: "findings", entries: findings },
    Kind { name: "reports", entries: || REPORTS.iter().map(|r| entry(r.name, r.about, String::new())).collect() },
    Kind { name: "prices", entries: prices },
    Kind { name: "schemas", entries: schemas },
    Kind { name: "providers", entries: || PROVIDERS.iter().map(|p| entry(p.name, p.about, provider_page(p))).collect() },
];

impl Catalog {
    pub fn run(self) -> Result<(), Failure> {
        let text = match (&self.kind, &self.name) {
            (None, _) => KINDS.iter().map(list).collect::<Vec<_>>().join("\n"),
            (Some(kind), None) => list(kind_by_name(kind)?),
            (Some(kind), Some(name)) => one(kind_by_name(kind)?, name)?,
        };
        Ok(output::write(None, text.as_bytes())?)
    }
}

fn kind_by_name(name: &str) -> Result<&'static Kind, Failure> {
    KINDS.iter().find(|kind| kind.name == name || kind.name.strip_suffix('s') == Some(name)).ok_or_else(|| {
        let known = KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
        Failure::Usage(format!("the catalog has no `{name}` (known: {known})"))
    })
}

fn list(kind: &Kind) -> String {
    let entries = (kind.entries)();
    let width = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    let line = |entry: &Entry| filled(&format!("  {:width$}  ", entry.name), &entry.about);
    format!("{}\n{}", kind.name, entries.iter().map(line).collect::<String>())
}

/// In lines that fit most terminals.
fn filled(begin: &str, text: &str) -> String {
    recompact::util::text::wrap(begin, text, 100)
}

fn one(kind: &Kind, name: &str) -> Result<String, Failure> {
    let entries = (kind.entries)();
    match entries.iter().find(|entry| entry.name == name) {
        Some(entry) if entry.page.is_empty() => Ok(filled("", &format!("{}: {}", entry.name, entry.about))),
        Some(entry) => Ok(format!("{}\n", entry.page.trim_end())),
        None => {
            let known: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
            Err(Failure::Usage(format!("no `{name}` among the {} (known: {})", kind.name, known.join(", "))))
        }
    }
}

fn entry(name: &str, about: &str, page: String) -> Entry {
    Entry { name: name.to_owned(), about: about.to_owned(), page }
}

fn meter(page: &MeterPage) -> Entry {
    entry(page.name, page.about, filled("Used by: ", page.source))
}

/// The manual page that a source file begins with: its `//!` lines, paragraphs filled anew, examples as they are.
fn page(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let (mut page, mut paragraph, mut example) = (String::new(), String::new(), false);
    for line in lines.map(|line| line.strip_prefix(' ').unwrap_or(line)) {
        let fence = line.starts_with("```");
        if !(example || fence || line.is_empty()) {
            paragraph += &format!("{line} ");
            continue;
        }
        if !paragraph.is_empty() {
            page += &filled("", &std::mem::take(&mut paragraph));
        }
        page += &format!("{line}\n");
        example ^= fence;
    }
    if paragraph.is_empty() { page } else { page + &filled("", &paragraph) }
}

/// Its manual page, and all its settings.
fn layer_page(kind: &LayerKind) -> String {
    let own = (kind.default)().settings().join(", ");
    let own = if own.is_empty() { "none of its own" } else { &own };
    let settings = filled("Settings:        ", own) + &filled("Of every layer:  ", &COMMON_SETTINGS.join(", "));
    format!("{}\n{settings}", page(kind.source))
}

fn policies() -> Vec<Entry> {
    let about = |preset: &recompact::engine::policy::Preset| preset.policy(&[]).map(|policy| policy.about).unwrap_or_default();
    PRESETS.iter().map(|preset| entry(preset.name, &about(preset), preset.toml.to_owned())).collect()
}

/// Those that ask no model, then the ways to ask one.
fn summarizers() -> Vec<Entry> {
    let alone = SUMMARIZERS.iter().map(|kind| (kind.name, kind.argument, kind.about));
    let models = PROTOCOLS.iter().map(|protocol| (protocol.name, protocol.argument, protocol.about));
    let about = |name: &str, argument: &str, about: &str| match argument {
        "" => about.to_owned(),
        argument => format!("({name}{argument}) {about}"),
    };
    alone.chain(models).map(|(name, argument, line)| entry(name, &about(name, argument, line), String::new())).collect()
}

fn prompts() -> Vec<Entry> {
    let about = |kind: &PromptKind| prompt(kind.name).map(|prompt| prompt.about.clone()).unwrap_or_default();
    PROMPTS.iter().map(|kind| entry(kind.name, &about(kind), kind.toml.to_owned())).collect()
}

fn measures() -> Vec<Entry> {
    let columns = |measure: &recompact::metrics::metric::Metric| {
        measure
            .columns
            .iter()
            .map(|column| {
                let estimated = if column.estimated { ", estimated" } else { "" };
                let unit = format!("{:?}", column.unit).to_lowercase();
                filled(&format!("{} ", column.id), &format!("({unit}{estimated}): {}", column.about))
            })
            .collect()
    };
    METRICS.iter().map(|measure| entry(measure.name, measure.about, columns(measure))).collect()
}

fn findings() -> Vec<Entry> {
    let of = |kind: &FindingKind| entry(kind.id, &format!("({}) {}", kind.level.name(), kind.about()), page(kind.source));
    FINDINGS.iter().map(of).collect()
}

/// What editors check the files of users with.
struct Schema {
    name: &'static str,
    about: &'static str,
    schema: fn() -> serde_json::Value,
}

const SCHEMAS: &[Schema] = &[
    Schema {
        name: "policy",
        about: "the JSON Schema of a policy file, so that editors complete it and mark what is wrong",
        schema: recompact::engine::policy::schema,
    },
    Schema {
        name: "suite",
        about: "that of a suite file, which `recompact check` reads",
        schema: recompact::analysis::gate::schema,
    },
];

fn schemas() -> Vec<Entry> {
    SCHEMAS.iter().map(|schema| entry(schema.name, schema.about, format!("{:#}", (schema.schema)()))).collect()
}

/// A line is the latest price; a page is what a list of prices has of the model.
fn prices() -> Vec<Entry> {
    let list = Prices::built_in();
    let of = |name: &&str| {
        let pages: Vec<_> = list.entries(name).iter().map(|price| price.to_toml()).collect();
        entry(name, &list.quote(Some(name), None).price.line(), pages.join("\n"))
    };
    list.names().iter().map(of).collect()
}

fn provider_page(provider: &Provider) -> String {
    let looks_back = match provider.look_back {
        Some(blocks) => format!("where an earlier request was marked, within {blocks} blocks"),
        None => "wherever two requests part".to_owned(),
    };
    let lives = match provider.long_minutes == provider.minutes {
        true => format!("{} minutes after its last use", provider.minutes),
        false => format!("{} minutes after its last use, {} at the longer price", provider.minutes, provider.long_minutes),
    };
    [
        filled("", &format!("{}: {}", provider.name, provider.about)),
        filled("A prefix is found:  ", &looks_back),
        filled(
            "It is read:         ",
            &format!("in steps of {}", recompact::util::text::plural(provider.step as usize, "token")),
        ),
        filled("It lives:           ", &lives),
        filled(
            "Thinking that left: ",
            if provider.reads_past_thinking { "the prefix is read all the same" } else { "the prefix ends where it stood" },
        ),
        filled("Source:             ", provider.source),
    ]
    .concat()
}
