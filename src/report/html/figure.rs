//! A plot on the page: its box, what it is called, and its data as a table for those who do not see it.

use super::super::escape;
use super::super::table_model::TableModel;
use super::series::PolicySeries;
use super::table;

pub struct Figure {
    /// Markup: one or more boxes.
    pub drawing: String,
    /// Markup: what tells the lines apart.
    pub legend: String,
    /// What is drawn, in a sentence or two.
    pub caption: String,
    pub data: TableModel,
}

impl Figure {
    pub fn draw(&self, cast: &PolicySeries, class: &str) -> String {
        let Self { drawing, legend, caption, data } = self;
        format!(
            r#"<figure class="{class}">{legend}<div class="plot">{drawing}</div><figcaption>{}</figcaption></figure>{}"#,
            escape::html(caption),
            numbers(data, cast)
        )
    }
}

/// The data of a plot, folded away.
pub fn numbers(data: &TableModel, cast: &PolicySeries) -> String {
    format!("<details><summary>The numbers of this plot</summary>{}</details>", table::sheet(data, cast, false))
}

/// A box for drawing: as wide as there is room, so many pixels high.
pub fn area(class: &str, height: usize, role: &str, name: &str, about: &str, inside: &str) -> String {
    format!(
        r#"<svg class="area {class}" width="100%" height="{height}" role="{role}" aria-label="{}"><desc>{}</desc>{inside}</svg>"#,
        escape::html(name),
        escape::html(about)
    )
}
