//! `recompact catalog`: lists everything of a kind, and prints the page of one entry.

mod entries;

use clap::Args;
use clap::builder::StringValueParser;

use crate::cli::args::suggestions::suggesting;
use crate::cli::error::Failure;
use crate::cli::output;

#[derive(Args)]
pub struct Catalog {
    /// Kind to list, or all [default: the kinds]
    #[arg(hide_possible_values = true, value_parser = suggesting(kinds, StringValueParser::new()))]
    kind: Option<String>,
    /// Entry of that kind; prints its page
    name: Option<String>,
}

/// Means every kind.
const ALL: &str = "all";

fn kinds() -> Vec<&'static str> {
    every_kind().map(|kind| kind.name).chain([ALL]).collect()
}

/// An entry of the catalog.
struct CatalogEntry {
    /// The heading over it and its neighbours; empty if the kind has no groups.
    group: &'static str,
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

/// The kinds, each group with what it is for.
const KINDS: [(&str, &[CatalogKind]); 4] = [
    (
        "to begin with",
        &[
            CatalogKind { name: "policies", about: "presets, for -p", entries: entries::policies },
            CatalogKind { name: "measures", about: "groups of columns of the results", entries: entries::measures },
            CatalogKind { name: "findings", about: "what can be wrong with a compaction", entries: entries::findings },
            CatalogKind { name: "formats", about: "transcripts that can be read", entries: entries::formats },
            CatalogKind { name: "reports", about: "forms of output, for -o", entries: entries::reports },
            CatalogKind {
                name: "harnesses",
                about: "agent harnesses whose settings can be written, for `export-settings --for`",
                entries: entries::harnesses,
            },
        ],
    ),
    (
        "for policy files",
        &[
            CatalogKind { name: "layers", about: "what policies are made of, with their settings", entries: entries::layers },
            CatalogKind { name: "meters", about: "how harnesses estimate tokens, for `meter`", entries: entries::meters },
            CatalogKind { name: "prompts", about: "what a model is asked that summarises", entries: entries::prompts },
        ],
    ),
    (
        "models and prices",
        &[
            CatalogKind { name: "summarizers", about: "who writes summaries, for --summarizer", entries: entries::summarizers },
            CatalogKind { name: "scorers", about: "ways to ask a model how probable a given text is", entries: entries::scorers },
            CatalogKind { name: "prices", about: "models with known prices, for --prices", entries: entries::prices },
            CatalogKind { name: "providers", about: "rules of prompt caches", entries: entries::providers },
        ],
    ),
    (
        "for programs",
        &[
            CatalogKind { name: "schemas", about: "JSON Schemas of files, for editors and programs", entries: entries::schemas },
            CatalogKind { name: "adapters", about: "code of agent libraries as policies, in Python", entries: entries::adapters },
        ],
    ),
];

/// All kinds.
fn every_kind() -> impl Iterator<Item = &'static CatalogKind> {
    KINDS.iter().flat_map(|(_, kinds)| *kinds)
}

impl Catalog {
    pub fn run(self) -> Result<(), Failure> {
        let text = match (&self.kind, &self.name) {
            (None, _) => overview(),
            (Some(kind), None) if kind == ALL => every_kind().map(list).collect::<Vec<_>>().join("\n"),
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
    let group = |(what, kinds): &(&str, &[CatalogKind])| format!("{what}\n{}", kinds.iter().map(line).collect::<String>());
    let kinds = KINDS.iter().map(group).collect::<Vec<_>>().join("\n");
    let commands = [("KIND", "the entries of a kind"), ("KIND NAME", "the page of an entry"), (ALL, "all entries")];
    let line = |(arguments, what): (&str, &str)| format!("recompact catalog {arguments:<9}  {what}\n");
    format!("{kinds}\n{}", commands.map(line).concat())
}

fn kind_by_name(name: &str) -> Result<&'static CatalogKind, Failure> {
    every_kind().find(|kind| kind.name == name || kind.name.strip_suffix('s') == Some(name)).ok_or_else(|| {
        let known = every_kind().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
        Failure::Usage(format!("the catalog has no `{name}` (known: {known})"))
    })
}

fn list(kind: &CatalogKind) -> String {
    let entries = (kind.entries)();
    let width = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    let line = |entry: &CatalogEntry| wrapped(&format!("  {:width$}  ", entry.name), &entry.about);
    let group = |entries: &[CatalogEntry]| {
        let heading = if entries[0].group.is_empty() { String::new() } else { format!("\n{}\n", entries[0].group) };
        heading + &entries.iter().map(line).collect::<String>()
    };
    let groups: String = entries.chunk_by(|one, next| one.group == next.group).map(group).collect();
    format!("{}\n{groups}", kind.name)
}

/// Wraps a text into lines that fit most terminals.
fn wrapped(begin: &str, text: &str) -> String {
    recompact::util::text::wrap(begin, text, 100)
}

fn entry_page(kind: &CatalogKind, name: &str) -> Result<String, Failure> {
    let entries = (kind.entries)();
    let unlisted = match kind.name {
        "prices" => entries::price(name),
        "measures" => entries::column(name),
        _ => None,
    };
    match entries.iter().find(|entry| entry.name == name).or(unlisted.as_ref()) {
        Some(entry) if entry.page.is_empty() => Ok(wrapped("", &format!("{}: {}", entry.name, entry.about))),
        Some(entry) => Ok(format!("{}\n", entry.page.trim_end())),
        None => {
            let known: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
            Err(Failure::Usage(format!("no `{name}` among the {} (known: {})", kind.name, known.join(", "))))
        }
    }
}
