//! A plot on the page: its drawing, its caption, and its data as a table for readers who cannot see the plot.

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::table_model::TableModel;
use super::series::PolicySeries;
use super::table;
use super::words::plain;

pub struct Figure {
    /// One or more SVG elements.
    pub drawing: Markup,
    pub legend: Markup,
    /// What the plot shows, in a sentence or two.
    pub caption: String,
    pub data: TableModel,
}

impl Figure {
    pub fn draw(&self, series: &PolicySeries, class: &str) -> Markup {
        let Self { drawing, legend, caption, data } = self;
        html! {
            figure class=(class) {
                (legend)
                div class="plot" { (drawing) }
                figcaption { (terminal(&plain(caption))) }
            }
            (data_details(data, series))
        }
    }
}

/// Renders the data of a plot as a collapsed table.
pub fn data_details(data: &TableModel, series: &PolicySeries) -> Markup {
    packed_details(&html! { "Data of this plot" }, &table::draw(data, series, false))
}

/// Renders a part of the page that is packed until it is opened, because its markup is several times as large.
pub fn packed_details(summary: &Markup, inside: &Markup) -> Markup {
    html! {
        details {
            summary { (summary) }
            (inner(inside))
        }
    }
}

/// The packed inside of a collapsed part.
pub fn inner(inside: &Markup) -> Markup {
    super::packed("inside", inside)
}

/// Renders an SVG element as wide as the page allows and `height` pixels high.
pub fn area(class: &str, height: usize, role: &str, name: &str, about: &str, inside: &Markup) -> Markup {
    html! {
        svg class={ "area " (class) } width="100%" height=(height) role=(role) aria-label=(terminal(name)) {
            desc { (terminal(about)) }
            (inside)
        }
    }
}
