//! Tools that a policy names and no session uses.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::{Remark, UNKNOWN_TOOL, quoted};
use crate::analysis::settings::own_settings;
use crate::engine::layer::{LAYERS, Layer, is_named};
use crate::engine::policy::Policy;
use crate::findings::Level;
use crate::util::text::closest;
use crate::util::toml_span::TomlSpans;

/// Names of tools in one setting of a layer.
struct NamedTools {
    setting: String,
    names: Vec<String>,
}

/// Returns the tools that settings name and no session uses. It is a warning if a name looks like a mistake: a used tool has nearly the
/// same name, or no name of the setting is used. Otherwise it is a note, because these sessions may not need every tool.
pub fn unknown(policy: &Policy, spans: &TomlSpans, used: &BTreeMap<String, usize>) -> Vec<Remark> {
    let known: Vec<&str> = used.keys().map(String::as_str).collect();
    let enabled = policy.layers.iter().enumerate().filter(|(_, layer)| layer.enabled);
    let mut remarks = Vec::new();
    for (index, layer) in enabled {
        for NamedTools { setting, names } in named_tools(layer) {
            let is_unknown = |name: &&String| !used.keys().any(|tool| is_named(name, tool));
            let none_used = names.iter().all(|name| is_unknown(&name));
            let mut unused: BTreeSet<&str> = BTreeSet::new();
            for (item, name) in names.iter().enumerate().filter(|(_, name)| is_unknown(name)) {
                let Some(near) = closest(name, &known) else {
                    unused.insert(name);
                    continue;
                };
                let message = format!("`{setting}` names the tool `{name}`, which no session here uses; did you mean `{near}`?");
                let line = line_of(spans, index, &setting, name, item);
                remarks.push(Remark { line, ..Remark::new(Level::Warning, UNKNOWN_TOOL, &layer.id, message) });
            }
            if !unused.is_empty() {
                let level = if none_used { Level::Warning } else { Level::Note };
                let names = quoted(unused);
                let message = format!("`{setting}` names tools that no session here uses: {names}");
                remarks.push(Remark {
                    line: spans.line(Some(index), &setting),
                    ..Remark::new(level, UNKNOWN_TOOL, &layer.id, message)
                });
            }
        }
    }
    remarks
}

fn line_of(spans: &TomlSpans, layer: usize, setting: &str, name: &str, item: usize) -> Option<usize> {
    spans.line_of_key(layer, setting, name).or_else(|| spans.line_of_item(layer, setting, item))
}

/// Returns the settings of a layer that name tools, without empty ones.
fn named_tools(layer: &Layer) -> Vec<NamedTools> {
    let values = Table::try_from(&layer.spec).unwrap_or_default();
    let kind = LAYERS.iter().find(|kind| kind.name == layer.spec.name());
    let settings = kind.map(own_settings).unwrap_or_default().into_iter().filter(|setting| setting.names_tools);
    let own = settings.map(|setting| {
        let names = match values.get(&setting.name) {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(Value::Table(by_name)) => by_name.keys().cloned().collect(),
            _ => Vec::new(),
        };
        NamedTools { setting: setting.name, names }
    });
    let when = layer.when.tool().map(|tool| NamedTools { setting: "when".to_owned(), names: vec![tool.to_owned()] });
    own.chain(when).filter(|tools| !tools.names.is_empty()).collect()
}
