//! The entries of each kind, with their pages.

use recompact::analysis::export::{Target, targets};
use recompact::analysis::settings::{SettingDescription, common_settings, own_settings};
use recompact::engine::layer::{COMMON_SETTINGS, LAYERS, LayerKind};
use recompact::engine::policy::{FAMILIES, Family, Preset, preset};
use recompact::engine::summarizer::SUMMARIZERS;
use recompact::findings::{FINDINGS, FindingKind};
use recompact::guide::adapters::ADAPTERS;
use recompact::llm::client::Purpose;
use recompact::llm::prompt::{PROMPTS, PromptKind, prompt};
use recompact::metrics::column::{Aggregation, Column, Direction};
use recompact::metrics::metric::{GROUPS, MetricGroup};
use recompact::metrics::prices::Prices;
use recompact::metrics::prompt_cache::{PROVIDERS, Provider};
use recompact::report::layer_settings::LayerSettings;
use recompact::report::{Layout, REPORTS};
use recompact::tokens::meter::{METERS, MeterDescription, RECORDED};
use recompact::transcript::format::FORMATS;
use recompact::util::text;

use super::{CatalogEntry, wrapped};

fn entry(name: &str, about: &str, page: String) -> CatalogEntry {
    CatalogEntry { group: "", name: name.to_owned(), about: about.to_owned(), page }
}

pub(super) fn formats() -> Vec<CatalogEntry> {
    FORMATS.iter().map(|format| entry(format.name, format.about, String::new())).collect()
}

pub(super) fn reports() -> Vec<CatalogEntry> {
    REPORTS.iter().map(|report| entry(report.name, report.about, String::new())).collect()
}

pub(super) fn adapters() -> Vec<CatalogEntry> {
    ADAPTERS.iter().map(|adapter| entry(adapter.name, adapter.about(), adapter.page().to_owned())).collect()
}

pub(super) fn meters() -> Vec<CatalogEntry> {
    METERS.iter().chain([&RECORDED]).map(meter).collect()
}

fn meter(page: &MeterDescription) -> CatalogEntry {
    let about = wrapped("", &format!("{}: {}", page.name, page.about));
    entry(page.name, page.about, about + &wrapped("Used by: ", page.source))
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
pub(super) fn layers() -> Vec<CatalogEntry> {
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

/// Lists the presets by family.
pub(super) fn policies() -> Vec<CatalogEntry> {
    let of_family = |family: &'static Family| {
        family
            .presets
            .iter()
            .filter_map(|name| preset(name))
            .map(|preset| CatalogEntry { group: family.heading, ..entry(preset.name, &about(preset), preset.toml.to_owned()) })
    };
    FAMILIES.iter().flat_map(of_family).collect()
}

/// What a preset does, after how it is known.
fn about(preset: &Preset) -> String {
    preset.policy(&[]).map_or_else(
        |_| String::new(),
        |policy| {
            let known = [policy.evidence, policy.version].into_iter().flatten().collect::<Vec<_>>().join(", ");
            format!("({known}) {}", policy.about)
        },
    )
}

/// Lists the forms of configuration that `recompact export-settings` writes; a page has the names of the settings.
pub(super) fn harnesses() -> Vec<CatalogEntry> {
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
pub(super) fn summarizers() -> Vec<CatalogEntry> {
    let without_model = SUMMARIZERS.iter().map(|kind| (kind.name, kind.argument, kind.about));
    let without_model = without_model.map(|(name, argument, about)| addressed(name, argument, about));
    without_model.chain(protocols(Purpose::Write)).collect()
}

pub(super) fn scorers() -> Vec<CatalogEntry> {
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

pub(super) fn prompts() -> Vec<CatalogEntry> {
    let about = |kind: &PromptKind| prompt(kind.name).map(|prompt| prompt.about.clone()).unwrap_or_default();
    PROMPTS.iter().map(|kind| entry(kind.name, &about(kind), kind.toml.to_owned())).collect()
}

pub(super) fn measures() -> Vec<CatalogEntry> {
    let columns = |group: &MetricGroup| group.metrics.iter().map(|metric| column_page(&metric.column)).collect();
    GROUPS.iter().map(|group| entry(group.name, group.about, columns(group))).collect()
}

/// Returns the entry of a column, whatever its group.
pub(super) fn column(name: &str) -> Option<CatalogEntry> {
    let mut all = GROUPS.iter().flat_map(|group| group.metrics).map(|metric| &metric.column);
    all.find(|column| column.id == name).map(|column| entry(name, &column.about, column_page(column)))
}

/// What a column counts, after its unit, its better direction and how the values of several conversations become one.
fn column_page(column: &Column) -> String {
    let better = match column.better {
        Direction::Lower => "lower is better",
        Direction::Higher => "higher is better",
        Direction::Neither => "",
    };
    let known =
        [if column.estimated { "estimated" } else { "" }, better, if column.detail { "only in JSON and CSV" } else { "" }];
    let known: String = known.iter().filter(|word| !word.is_empty()).map(|word| format!(", {word}")).collect();
    let unit = format!("{:?}", column.unit).to_lowercase();
    let about = format!("({unit}{known}; total: {}): {}", total(&column.combine), column.about);
    wrapped(&format!("{} ", column.id), &about)
}

/// How the values of several conversations become one.
fn total(combine: &Aggregation) -> String {
    match combine {
        Aggregation::Nothing => "none".to_owned(),
        Aggregation::Sum => "sum".to_owned(),
        Aggregation::Max => "maximum".to_owned(),
        Aggregation::Mean => "mean".to_owned(),
        Aggregation::Ratio { over, under } => format!("{over} ÷ {under}"),
        Aggregation::Saving { over, under } => format!("1 − {over} ÷ {under}"),
        Aggregation::Weighted { by } => format!("mean by {by}"),
    }
}

pub(super) fn findings() -> Vec<CatalogEntry> {
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

pub(super) fn schemas() -> Vec<CatalogEntry> {
    SCHEMAS.iter().map(|schema| entry(schema.name, schema.about, format!("{:#}", (schema.schema)()))).collect()
}

/// Lists the prices of the project's own list, and says how many more models have one: a line shows the latest price.
pub(super) fn prices() -> Vec<CatalogEntry> {
    let list = Prices::built_in();
    let own = list.names();
    let others = list.all_names().len() - own.len();
    let about = format!("{others} other models, as in LiteLLM's table: `recompact catalog prices MODEL`");
    own.iter().filter_map(|name| price(name)).chain([entry("…", &about, String::new())]).collect()
}

/// Returns the entry of a model with a known price; its page has all prices of the model.
pub(super) fn price(name: &str) -> Option<CatalogEntry> {
    let list = Prices::built_in();
    let pages: Vec<_> = list.entries(name).iter().map(|price| price.to_toml()).collect();
    (!pages.is_empty()).then(|| entry(name, &list.quote(Some(name), None).price.line(), pages.join("\n")))
}

pub(super) fn providers() -> Vec<CatalogEntry> {
    PROVIDERS.iter().map(|provider| entry(provider.name, provider.about, provider_page(provider))).collect()
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
