//! A plot on the page: its drawing, its caption, and its data as a table for readers who cannot see the plot.

use super::super::escape;
use super::super::table_model::TableModel;
use super::series::PolicySeries;
use super::table;

pub struct Figure {
    /// Markup: one or more SVG elements.
    pub drawing: String,
    /// Markup: the legend.
    pub legend: String,
    /// What the plot shows, in a sentence or two.
    pub caption: String,
    pub data: TableModel,
}

impl Figure {
    pub fn draw(&self, series: &PolicySeries, class: &str) -> String {
        let Self { drawing, legend, caption, data } = self;
        format!(
            r#"<figure class="{class}">{legend}<div class="plot">{drawing}</div><figcaption>{}</figcaption></figure>{}"#,
            escape::html(caption),
            data_details(data, series)
        )
    }
}

/// Renders the data of a plot as a collapsed table.
pub fn data_details(data: &TableModel, series: &PolicySeries) -> String {
    format!("<details><summary>Data of this plot</summary>{}</details>", table::draw(data, series, false))
}

/// Renders an SVG element as wide as the page allows and `height` pixels high.
pub fn area(class: &str, height: usize, role: &str, name: &str, about: &str, inside: &str) -> String {
    format!(
        r#"<svg class="area {class}" width="100%" height="{height}" role="{role}" aria-label="{}"><desc>{}</desc>{inside}</svg>"#,
        escape::html(name),
        escape::html(about)
    )
}
