//! The settings of a layer as a document: a table with type, default, unit and meaning.

use serde::Serialize;

use super::table_model::{ColumnHeader, TableModel};
use super::{Document, Section, json};
use crate::analysis::settings::SettingDescription;

/// A default value longer than this is written behind the meaning.
const LONGEST_DEFAULT: usize = 14;

/// The settings of a kind of layer, or those that every layer has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerSettings {
    /// Whose settings they are, as a title.
    pub title: String,
    pub settings: Vec<SettingDescription>,
}

impl Document for LayerSettings {
    const SECTIONS: &'static [Section<Self>] = &[Section::new("settings", "settings of a layer", |layer, _| vec![table(layer)])];

    fn json(&self) -> Vec<u8> {
        json::write(self)
    }
}

fn table(layer: &LayerSettings) -> TableModel {
    let mut headers = vec![ColumnHeader::names("setting")];
    headers.extend(["type", "default", "unit"].map(ColumnHeader::words));
    headers.push(ColumnHeader::prose("meaning"));
    let row = |setting: &SettingDescription| {
        let short = setting.default.as_ref().filter(|default| is_short(default)).cloned();
        let unit = setting.unit.clone();
        vec![setting.name.clone(), setting.kind.to_owned(), short.unwrap_or_default(), unit.unwrap_or_default(), meaning(setting)]
    };
    let rows = layer.settings.iter().map(row).collect();
    TableModel { title: layer.title.clone(), subject: String::new(), headers, rows, footnotes: Vec::new() }
}

fn is_short(default: &str) -> bool {
    default.chars().count() <= LONGEST_DEFAULT
}

/// Returns what a setting does and what its values mean, in one paragraph.
pub fn meaning(setting: &SettingDescription) -> String {
    let described = setting.choices.iter().filter(|choice| !choice.about.is_empty());
    let plain: Vec<_> =
        setting.choices.iter().filter(|choice| choice.about.is_empty()).map(|choice| choice.value.as_str()).collect();
    let choices = described.map(|choice| format!(" {}: {}", choice.value, choice.about));
    let one_of = (!plain.is_empty()).then(|| format!(" One of {}.", plain.join(", ")));
    let default = setting.default.as_ref().filter(|default| !is_short(default)).map(|default| format!(" Default: {default}"));
    [setting.about.clone()].into_iter().chain(choices).chain(one_of).chain(default).collect()
}
