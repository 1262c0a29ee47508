//! Reads a [`Policy`] from TOML, applies `--set`, and reports errors with their line.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::check::check;
use super::{CacheSettings, Policy, Tuning};
use crate::engine::layer::{COMMON_SETTINGS, LAYERS, LayerSpec, WrongSetting, old_names};
use crate::engine::size::{Limits, Size};
use crate::util::ValueError;
use crate::util::text::did_you_mean;
use crate::util::toml_span::{FileError, TomlSpans, line_at};
use crate::util::toml_table::{FieldError, from_table};

/// Why a policy cannot be used. The `origin` is the name of the preset or the path of the file.
pub type PolicyError = FileError;

/// One `--set LAYER.FIELD=VALUE`, or `FIELD=VALUE` for a setting of the whole policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The original text.
    pub written: String,
    /// Id of the layer; `None` for a setting of the whole policy.
    pub layer: Option<String>,
    pub field: String,
    pub value: Value,
}

impl std::str::FromStr for Setting {
    type Err = ValueError;

    fn from_str(written: &str) -> Result<Self, ValueError> {
        let (key, value) = written.split_once('=').ok_or_else(|| format!("`{written}`: write LAYER.FIELD=VALUE"))?;
        let (layer, field) = match key.trim().split_once('.') {
            Some((layer, field)) => (Some(layer.to_owned()), field),
            None => (None, key.trim()),
        };
        Ok(Self { written: written.to_owned(), layer, field: field.to_owned(), value: parse_value(value.trim()) })
    }
}

/// Parses a value as users type it: `5`, `true`, `["a"]`, `50k` (a number), else a text.
fn parse_value(written: &str) -> Value {
    let as_toml = format!("value = {written}").parse::<Table>().ok().and_then(|mut table| table.remove("value"));
    as_toml.or_else(|| parse_plain_size(written)).unwrap_or_else(|| Value::String(written.to_owned()))
}

fn parse_plain_size(written: &str) -> Option<Value> {
    let starts_with_digit = written.starts_with(|c: char| c.is_ascii_digit());
    let is_formula = written.contains(|c: char| "+-*/()%".contains(c));
    let size = (starts_with_digit && !is_formula).then(|| written.parse::<Size>().ok()).flatten()?;
    let number = size.resolve(Limits { window: 0, max_output: 0 });
    i64::try_from(number).ok().map(Value::Integer)
}

impl Setting {
    /// Changes the policy. Returns the present name of the setting, which may be written by an old one.
    fn apply(&self, policy: &mut Table) -> Result<String, String> {
        let target = match &self.layer {
            None => policy,
            Some(id) => {
                let layers = policy.get_mut("layer").and_then(Value::as_array_mut).into_iter().flatten();
                let mut ids = Vec::new();
                let mut target = None;
                for layer in layers.filter_map(Value::as_table_mut) {
                    let layer_id = layer.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
                    if layer_id == *id {
                        target = Some(layer);
                    }
                    ids.push(layer_id);
                }
                match target {
                    None if id == CacheSettings::TABLE => {
                        let cache = policy.entry(CacheSettings::TABLE).or_insert_with(|| Value::Table(Table::new()));
                        cache.as_table_mut().ok_or("write `[cache]` as a table")?
                    }
                    target => target.ok_or_else(|| format!("no layer has the id `{id}`{}", did_you_mean(id, &ids)))?,
                }
            }
        };
        let name = spec_of(target).map_or(self.field.as_str(), |spec| spec.present_name(&self.field)).to_owned();
        insert_at(target, &name, self.value.clone())?;
        Ok(name)
    }
}

/// Inserts a value into a table, or into a table in it (`input.chars`). Returns the value that was there.
fn insert_at(table: &mut Table, name: &str, value: Value) -> Result<Option<Value>, String> {
    let Some((part, inner)) = name.split_once('.') else { return Ok(table.insert(name.to_owned(), value)) };
    let part_of = table.entry(part).or_insert_with(|| Value::Table(Table::new()));
    insert_at(part_of.as_table_mut().ok_or_else(|| format!("`{part}` is no table"))?, inner, value)
}

/// Returns the settings in a table of a layer. Those of a part have its name in front.
fn written_settings(table: &Table, known: &[String]) -> Vec<String> {
    let mut written = Vec::new();
    for (name, value) in table {
        let inside = format!("{name}.");
        let of_part: Vec<String> = known.iter().filter_map(|known| Some(known.strip_prefix(&inside)?.to_owned())).collect();
        match value.as_table() {
            Some(part) if !of_part.is_empty() => {
                written.extend(written_settings(part, &of_part).iter().map(|inner| format!("{inside}{inner}")));
            }
            _ => written.push(name.clone()),
        }
    }
    written
}

/// Returns a layer of the kind that a table names, with its default settings.
fn spec_of(layer: &Table) -> Option<LayerSpec> {
    layer.get("do").and_then(Value::as_str).and_then(LayerSpec::by_name)
}

/// Returns an error message if none of these policies has the layer of a setting; it lists the layers that they have.
pub fn unknown_layer_message(setting: &str, layer: Option<&str>, policies: &[&Policy]) -> Option<String> {
    let id = layer.filter(|_| !policies.iter().any(|policy| policy.has_layer(layer)))?;
    let ids = policies.iter().flat_map(|policy| policy.layers.iter().map(|layer| layer.id.as_str()));
    let known: Vec<_> = ids.collect::<BTreeSet<_>>().into_iter().collect();
    Some(format!("--set {setting}: no policy here has a layer `{id}`{}", did_you_mean(id, &known)))
}

impl Policy {
    /// Parses a policy. `origin` is its name in error messages.
    pub fn parse(text: &str, origin: &str, settings: &[Setting]) -> Result<Self, PolicyError> {
        Self::parse_with(text, origin, settings).map_err(|error| {
            // If the policy is valid without its settings, a setting is wrong, and not a line of the file.
            let is_wrong = |setting: &&Setting| Self::parse_with(text, origin, std::slice::from_ref(*setting)).is_err();
            match settings.iter().find(is_wrong) {
                Some(setting) if Self::parse_with(text, origin, &[]).is_ok() => {
                    PolicyError { origin: format!("--set {}", setting.written), line: None, what: error.what }
                }
                _ => error,
            }
        })
    }

    fn parse_with(text: &str, origin: &str, settings: &[Setting]) -> Result<Self, PolicyError> {
        let error = |line: Option<usize>, what: String| PolicyError { origin: origin.to_owned(), line, what };
        let mut table: Table =
            toml::from_str(text).map_err(|e| error(e.span().map(|span| line_at(text, span.start)), e.message().to_owned()))?;
        let spans = TomlSpans::new(text, "layer");
        let line = |wrong: &SettingError| {
            let of = |key: &str| spans.line(wrong.layer, key);
            of(&wrong.key).or_else(|| old_names(&wrong.key).find_map(of))
        };
        let error_at = |wrong: SettingError| error(line(&wrong), wrong.message);
        use_present_names(&mut table).map_err(error_at)?;
        name_settings_of_parts(&mut table);
        apply(settings, &mut table).map_err(|what| error(None, what))?;
        let layers = take_layers(&mut table).map_err(error_at)?;
        let policy = parse_layer_by_layer(&table, layers).map_err(error_at)?;
        check(&policy).map_err(|(layer, WrongSetting { setting, why })| {
            // A setting that is missing has no line.
            let wrong = SettingError { layer: Some(layer), key: setting.to_owned(), message: why };
            error(line(&wrong).or_else(|| spans.line(Some(layer), "id")), wrong.message)
        })?;
        Ok(policy)
    }
}

/// Applies settings in order: the last one counts, unless two name the same setting differently. What is changed was not chosen by
/// the sweep that wrote the file.
fn apply(settings: &[Setting], policy: &mut Table) -> Result<(), String> {
    if !settings.is_empty() {
        policy.remove(Tuning::TABLE);
    }
    let mut given: BTreeMap<(Option<&str>, String), &str> = BTreeMap::new();
    for setting in settings {
        let (layer, field) = (setting.layer.as_deref(), setting.field.as_str());
        let name = setting.apply(policy)?;
        if let Some(other) = given.insert((layer, name), field).filter(|other| *other != field) {
            let id = layer.unwrap_or_default();
            return Err(format!("--set {id}.{other} and --set {id}.{field} are the same setting: give one of them"));
        }
    }
    Ok(())
}

/// Renames the settings that are written by their old names.
fn use_present_names(policy: &mut Table) -> Result<(), SettingError> {
    let layers = policy.get_mut("layer").and_then(Value::as_array_mut).into_iter().flatten();
    for (index, layer) in layers.enumerate() {
        let Some(layer) = layer.as_table_mut() else { continue };
        for renamed in spec_of(layer).iter().flat_map(LayerSpec::renamed) {
            let Some(value) = layer.remove(renamed.old) else { continue };
            if !matches!(insert_at(layer, renamed.new, value), Ok(None)) {
                let id = layer.get("id").and_then(Value::as_str).unwrap_or("?");
                let (old, new) = (renamed.old, renamed.new);
                let message = format!("layer `{id}`: `{old}` is the old name of `{new}`: give one of them");
                return Err(SettingError { layer: Some(index), key: old.to_owned(), message });
            }
        }
    }
    Ok(())
}

/// Names the settings of parts in `[sweep]` and `[harness]` as in a layer: `input.chars`.
fn name_settings_of_parts(policy: &mut Table) {
    let tables = ["sweep", "harness"].map(|table| policy.remove(table).map(|by_layer| (table, by_layer)));
    for (table, mut by_layer) in tables.into_iter().flatten() {
        for settings in by_layer.as_table_mut().into_iter().flat_map(|by_layer| by_layer.iter_mut().map(|(_, value)| value)) {
            if let Value::Table(written) = settings {
                let mut named = Table::new();
                add_by_name("", std::mem::take(written), &mut named);
                *written = named;
            }
        }
        policy.insert(table.to_owned(), by_layer);
    }
}

fn add_by_name(part: &str, settings: Table, named: &mut Table) {
    for (name, value) in settings {
        match value {
            Value::Table(inner) => add_by_name(&format!("{part}{name}."), inner, named),
            value => drop(named.insert(format!("{part}{name}"), value)),
        }
    }
}

/// An error in one setting.
struct SettingError {
    /// Index of the layer; `None` for a setting of the whole policy.
    layer: Option<usize>,
    key: String,
    message: String,
}

/// Names of the settings of a policy, as in TOML.
pub(super) const POLICY_SETTINGS: &[&str] = &[
    "name",
    "about",
    "aliases",
    "version",
    "source",
    "date",
    "evidence",
    "decided_by",
    "quirks",
    "messages",
    "meter",
    "window",
    "max_output",
    "cache",
    "sweep",
    "harness",
    Tuning::TABLE,
    "layer",
];

/// Removes the layers of a policy, each with the defaults of its kind. Checks that every key is known: silently ignoring a misspelt
/// setting would give a wrong result.
fn take_layers(policy: &mut Table) -> Result<Vec<(Table, LayerSpec)>, SettingError> {
    if let Some(key) = policy.keys().find(|key| !POLICY_SETTINGS.contains(&key.as_str())) {
        let message = format!("a policy has no setting `{key}`{}", did_you_mean(key, POLICY_SETTINGS));
        return Err(SettingError { layer: None, key: key.clone(), message });
    }
    let layers = match policy.remove("layer") {
        None => Vec::new(),
        Some(Value::Array(layers)) => layers,
        Some(_) => {
            let message = "write layers as `[[layer]]`".to_owned();
            return Err(SettingError { layer: None, key: "layer".to_owned(), message });
        }
    };
    let of_layer = |(index, layer)| {
        let error = |key: &str, message| Err(SettingError { layer: Some(index), key: key.to_owned(), message });
        let Value::Table(layer) = layer else { return error("id", "write layers as `[[layer]]`".to_owned()) };
        let id = layer.get("id").and_then(Value::as_str).unwrap_or("?");
        let name = layer.get("do").and_then(Value::as_str).unwrap_or_default();
        let Some(spec) = LayerSpec::by_name(name) else {
            let names: Vec<_> = LAYERS.iter().map(|kind| kind.name).collect();
            return error("do", format!("layer `{id}`: `do = \"{name}\"` is unknown{}", did_you_mean(name, &names)));
        };
        let known: Vec<_> = COMMON_SETTINGS.iter().map(|s| (*s).to_owned()).chain(spec.settings()).collect();
        if let Some(key) = written_settings(&layer, &known).iter().find(|key| !known.contains(key)) {
            let inside = format!("{key}.");
            let message = match known.iter().find(|known| known.starts_with(&inside)) {
                Some(inner) => format!("layer `{id}`: `{key}` is a table of settings, such as `{inner}`"),
                None => format!("layer `{id}`: `{name}` has no setting `{key}`{}", did_you_mean(key, &known)),
            };
            return error(key, message);
        }
        Ok((layer, spec))
    };
    layers.into_iter().enumerate().map(of_layer).collect()
}

/// Parses the layers one at a time, so that an error can name its layer.
fn parse_layer_by_layer(table: &Table, layers: Vec<(Table, LayerSpec)>) -> Result<Policy, SettingError> {
    let error = |layer: Option<usize>, default: &str, error: FieldError| SettingError {
        layer,
        key: error.key.unwrap_or_else(|| default.to_owned()),
        message: error.what,
    };
    let required = |keys: &[&str], table: &Table| -> Table {
        keys.iter().filter_map(|key| Some(((*key).to_owned(), table.get(*key)?.clone()))).collect()
    };
    let mut policy: Policy = from_table(table, &required(&["name"], table)).map_err(|wrong| error(None, "name", wrong))?;
    for (index, (layer, kind)) in layers.into_iter().enumerate() {
        let id = layer.get("id").and_then(Value::as_str).unwrap_or("?").to_owned();
        let of_layer = |error: SettingError| SettingError { message: format!("layer `{id}`: {}", error.message), ..error };
        let layer = with_defaults(layer, kind).map_err(|what| {
            of_layer(SettingError { layer: Some(index), key: "do".to_owned(), message: format!("its defaults: {what}") })
        })?;
        let parsed =
            from_table(&layer, &required(&["id", "do"], &layer)).map_err(|wrong| of_layer(error(Some(index), "id", wrong)))?;
        policy.layers.push(parsed);
    }
    Ok(policy)
}

/// Fills in the defaults of the layer's kind. Serde would use the defaults of the flattened
/// [`ResultFilter`](crate::engine::layer::ResultFilter) instead, which are the same for every kind.
fn with_defaults(layer: Table, kind: LayerSpec) -> Result<Table, toml::ser::Error> {
    let mut settings = Table::try_from(kind)?;
    settings.extend(layer);
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::layer::LayerSpec;

    const SMALL: &str = "name = \"small\"\n\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\nkeep_recent = 3\n";

    fn fails(text: &str, settings: &[&str]) -> String {
        let settings: Vec<_> = settings.iter().map(|s| s.parse().expect(s)).collect();
        Policy::parse(text, "p.toml", &settings).expect_err("the policy is wrong").to_string()
    }

    #[test]
    fn a_misspelt_key_is_named_with_its_line() {
        let message = fails(&SMALL.replace("keep_recent", "keep_recnt_results"), &[]);
        assert!(
            message.starts_with(
                "p.toml:6: layer `micro`: `clear` has no setting `keep_recnt_results`; did you mean `keep_recent_results`? (known: "
            ),
            "{message}"
        );
        let message = fails(&SMALL.replace("[[layer]]", "[layer]"), &[]);
        assert_eq!(message, "p.toml:3: write layers as `[[layer]]`");
        let message = fails(&SMALL.replace("name", "nam"), &[]);
        assert!(message.starts_with("p.toml:1: a policy has no setting `nam`; did you mean `name`?"), "{message}");
        let message = fails(&SMALL.replace("\"clear\"", "\"clean\""), &[]);
        assert!(message.starts_with("p.toml:5: layer `micro`: `do = \"clean\"` is unknown; did you mean `clear`?"));
    }

    /// A message is of little use in a file of many layers without the line of the setting.
    #[test]
    fn errors_name_the_line_of_the_setting() {
        for (settings, line) in [
            ("min_chars = 1\nthreshold = \"80%\"", 8),
            ("min_chars = 1\nmeter = \"tokens\"", 8),
            ("min_chars = 1\nwhen = { before = [\"auto\"] }", 8),
            ("min_chars = 1\nwhen = \"sometimes\"", 8),
            ("min_chars = 1\nwhen = { any = [] }", 8),
            ("min_chars = 1\nwhen = { any = [\"entry\"] }", 8),
            ("min_chars = 1\nwhen = { all = [{ calls = 0 }] }", 8),
            ("min_chars = 1\nlists = \"all\"", 8),
            ("min_chars = 1\nprotect_unseen = 1", 8),
            ("threshold = \"80%\"", 7),
        ] {
            let message = fails(&format!("{SMALL}{settings}\n"), &[]);
            assert!(message.starts_with(&format!("p.toml:{line}: layer `micro`: ")), "{message}");
        }
        let persist = SMALL.replace("\"clear\"", "\"persist\"");
        assert!(fails(&persist, &[]).contains("layer `micro`: the newest results stay only where each result is compared alone"));
        let server = persist.replace("keep_recent = 3", "min_chars = 3\nscope = \"server\"");
        assert!(fails(&server, &[]).starts_with("p.toml:7: layer `micro`: a provider can edit its cache only in place"));
        let saved = SMALL.replace("keep_recent = 3", "save.preview_chars = 9");
        assert_eq!(fails(&saved, &[]), "p.toml:6: layer `micro`: `save.preview_chars` needs `save.to`");
        let saved = SMALL.replace("keep_recent = 3", "save_to = \"out\"");
        assert!(fails(&saved, &[]).contains(": with `save.to`, the placeholder must name the file"));
        let steps = SMALL.replace("\"clear\"", "\"keep\"").replace("keep_recent = 3", "remove_at_least = 9");
        assert_eq!(fails(&steps, &[]), "p.toml:6: layer `micro`: `remove_at_least` needs `keep_recent_tokens`");
        let auto = |retries: &str| {
            format!("name = \"p\"\n[[layer]]\nid = \"auto\"\ndo = \"summarize\"\nwhen = \"overflow\"\nmax_retries = {retries}\n")
        };
        assert_eq!(fails(&auto("4_000_000_000"), &[]), "p.toml:6: layer `auto`: `retry.max` must be at most 100");
        let middle = format!("{steps}keep_recent_tokens = 99\nremove_from = \"middle\"\ncut = \"anywhere\"\n");
        assert_eq!(fails(&middle, &[]), "p.toml:6: layer `micro`: `remove_from = \"middle\"` has no `remove_at_least`");
    }

    #[test]
    fn set_changes_one_value_of_the_named_layer() {
        let setting = "micro.keep_recent=5".parse().expect("a setting");
        let policy = Policy::parse(SMALL, "p.toml", &[setting]).expect("a policy");
        let LayerSpec::Clear(clear) = &policy.layers[0].spec else { panic!("a clear layer") };
        assert_eq!(clear.filter.keep_recent_results, 5);
    }

    #[test]
    fn old_names_mean_the_same_as_present_ones() {
        let parsed = |text: &str, settings: &[&str]| {
            let settings: Vec<_> = settings.iter().map(|s| s.parse().expect(s)).collect();
            Policy::parse(text, "p.toml", &settings).unwrap_or_else(|error| panic!("{error}"))
        };
        let present = SMALL.replace("keep_recent", "keep_recent_results");
        assert_eq!(parsed(SMALL, &[]), parsed(&present, &[]));
        assert!(parsed(SMALL, &[]).to_toml().contains("keep_recent_results = 3"));
        for text in [SMALL, &present] {
            let [old, new] = ["micro.keep_recent=5", "micro.keep_recent_results=5"].map(|setting| parsed(text, &[setting]));
            assert_eq!(old, new);
            assert_ne!(old, parsed(text, &[]));
        }
        let both = fails(&format!("{present}keep_recent = 4\n"), &[]);
        assert_eq!(both, "p.toml:7: layer `micro`: `keep_recent` is the old name of `keep_recent_results`: give one of them");
        let both = fails(SMALL, &["micro.keep_recent=5", "micro.keep_recent_results=6"]);
        assert_eq!(
            both,
            "p.toml: --set micro.keep_recent and --set micro.keep_recent_results are the same setting: give one of them"
        );
        let wrong = fails(&SMALL.replace("= 3", "= \"three\""), &[]);
        assert!(wrong.starts_with("p.toml:6: layer `micro`: "), "{wrong}");
        let elsewhere = fails(&SMALL.replace("keep_recent", "keep_recent_messages"), &[]);
        assert!(elsewhere.contains("`clear` has no setting `keep_recent_messages`; did you mean `keep_recent_results`?"));
    }

    const SUMMARY: &str = "name = \"p\"\n[[layer]]\nid = \"auto\"\ndo = \"summarize\"\n";

    /// A part is written as a table, or each of its settings with its name in front. What is not given is the default.
    #[test]
    fn settings_of_a_part_are_written_in_three_ways() {
        let parsed = |settings: &str, set: &[&str]| {
            let set: Vec<_> = set.iter().map(|s| s.parse().expect(s)).collect();
            Policy::parse(&format!("{SUMMARY}{settings}"), "p.toml", &set).unwrap_or_else(|error| panic!("{error}"))
        };
        let dotted = parsed("input.chars = 80\ninput.side = \"tail\"\n", &[]);
        let LayerSpec::Summarize(summarize) = &dotted.layers[0].spec else { panic!("a summary") };
        assert_eq!((summarize.input.chars, summarize.input.same_tools), (Some(80), true));
        assert_eq!(dotted, parsed("input = { chars = 80, side = \"tail\" }\n", &[]));
        assert_eq!(dotted, parsed("[layer.input]\nchars = 80\nside = \"tail\"\n", &[]));
        assert_eq!(dotted, parsed("input_chars = 80\ninput_side = \"tail\"\n", &[]), "the old names");
        assert_eq!(dotted, parsed("input.side = \"tail\"\n", &["auto.input_chars=80"]));
        assert_eq!(dotted, parsed("input.chars = 9\n", &["auto.input.chars=80", "auto.input.side=tail"]));
        assert_eq!(dotted, Policy::parse(&dotted.to_toml(), "p.toml", &[]).expect("what is written is read"));
        let swept = |sweep: &str| parsed(&format!("[sweep]\n{sweep}"), &[]).sweep;
        assert_eq!(swept("auto.input.chars = \"1,2\""), swept("auto.\"input.chars\" = \"1,2\""));
        assert_eq!(swept("auto.input.chars = \"1,2\"")["auto"]["input.chars"], "1,2");
    }

    #[test]
    fn wrong_settings_of_a_part_are_named_with_their_line() {
        let wrong = |settings: &str| fails(&format!("{SUMMARY}max_tokens = 9\n{settings}\n"), &[]);
        let misspelt = wrong("input.chrs = 1");
        assert!(
            misspelt.starts_with("p.toml:6: layer `auto`: `summarize` has no setting `input.chrs`; did you mean `input.chars`?"),
            "{misspelt}"
        );
        assert_eq!(wrong("input = 1"), "p.toml:6: layer `auto`: `input` is a table of settings, such as `input.whole`");
        let both = wrong("input.side = \"tail\"\ninput_side = \"head\"");
        assert_eq!(both, "p.toml:7: layer `auto`: `input_side` is the old name of `input.side`: give one of them");
        assert_eq!(wrong("retry.shrink = 0.5\nretry.max = 101"), "p.toml:7: layer `auto`: `retry.max` must be at most 100");
        let kind = wrong("input.side = \"tail\"\ninput.chars = \"many\"");
        assert!(kind.starts_with("p.toml:6: layer `auto`: ") && kind.contains("expected"), "{kind}");
        let set = fails(SUMMARY, &["auto.max_tokens.x=1"]);
        assert!(set.starts_with("--set auto.max_tokens.x=1: "), "{set}");
    }

    #[test]
    fn wrong_setting_is_quoted_in_the_error() {
        let message = fails(SMALL, &["micr.keep_recent=5"]);
        assert!(message.starts_with("--set micr.keep_recent=5: no layer has the id `micr`; did you mean `micro`?"), "{message}");
        let message = fails(SMALL, &["micro.min_chars=1", "micro.keep=5"]);
        assert!(message.starts_with("--set micro.keep=5: layer `micro`: `clear` has no setting `keep`"), "{message}");
        assert_eq!(
            fails(SMALL, &["micro.keep_recent=many"]),
            "--set micro.keep_recent=many: layer `micro`: invalid type: string \"many\", expected a whole number, 0 or more"
        );
        let broken = SMALL.replace("\"clear\"", "\"clean\"");
        assert!(fails(&broken, &["micro.keep_recent=5"]).starts_with("p.toml:5: "), "the file was wrong before");
    }

    #[test]
    fn set_accepts_human_values() {
        for (written, value) in [
            ("5", Value::Integer(5)),
            ("50k", Value::Integer(50_000)),
            ("200KB", Value::Integer(200_000)),
            ("true", Value::Boolean(true)),
            ("head", Value::String("head".to_owned())),
            ("0.9 * window", Value::String("0.9 * window".to_owned())),
        ] {
            assert_eq!(parse_value(written), value, "{written}");
        }
    }

    #[test]
    fn broken_toml_error_has_its_line() {
        assert!(fails("name = \"a\"\nmeter = \n", &[]).starts_with("p.toml:2: "));
    }
}
