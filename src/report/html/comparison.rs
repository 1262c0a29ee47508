//! All policies by column: the columns that decide, the others behind buttons.

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::number_format;
use super::super::screen::{change, is_too_wide};
use super::super::table_model::compare::{in_tables, name};
use super::figure::packed_details;
use super::roles::Roles;
use super::series::{PolicySeries, REFUSED, sample};
use super::table::sorter;
use super::words::{group, plain, words};
use crate::metrics::metric::{cost, retention, tokens};
use crate::results::saved::{Column, Direction, Results, Summary, Unit};

/// The first group: what decides between policies.
const FIRST: &str = "in short";
/// Columns of the first group; several ids are added up.
const DECIDING: [&[&str]; 6] =
    [&[cost::USD], &[retention::HIT], &[retention::HARD], &REFUSED, &[tokens::SENT], &[cost::CACHE_READ]];

/// A column of the table.
struct TableColumn<'a> {
    /// Index of its group.
    group: usize,
    is_first: bool,
    id: String,
    name: String,
    about: String,
    unit: Unit,
    better: Direction,
    /// The columns of the results that are added up.
    parts: Vec<&'a Column>,
    /// Whether it is the change of the cost against the yardstick, as in the answer.
    is_change: bool,
    /// The best and the worst value of the policies that can be chosen.
    ends: Option<[f64; 2]>,
}

/// Draws policies × columns, with intervals. Each policy and its bounds form one `tbody`, so that sorting keeps them
/// together.
pub fn draw(results: &Results, series: &PolicySeries) -> Markup {
    if results.summary.is_empty() {
        return Markup::default();
    }
    let (groups, columns) = columns(results, &series.roles);
    let hidden: Vec<String> = (1..groups.len()).map(|group| format!("hide-{group}")).collect();
    let has_bounds = results.summary.iter().any(|summary| summary.bound_of.is_some());
    html! {
        div class="groups live" role="group" aria-label="Shown" {
            @for (index, group) in groups.iter().enumerate() {
                button type="button" class="group" aria-pressed=(index == 0) data-g=(index) { (terminal(self::group(group))) }
            }
            @if has_bounds {
                button type="button" class="group" aria-pressed="false" data-g="bounds" { "oracle rows" }
            }
        }
        div class="sheet" {
            div class="scroll tall" tabindex="0" role="region" aria-label="Policies by column" {
                table id="comparison" class={ "hide-bounds " (hidden.join(" ")) } {
                    caption class="heard" { "Policies by column, with intervals where there are any" }
                    thead {
                        tr {
                            th scope="col" rowspan="2" { (sorter(&html! { "policy" })) }
                            @for (index, group) in groups.iter().enumerate() {
                                @let span = columns.iter().filter(|column| column.group == index).count();
                                th scope="colgroup" colspan=(span) class={ "g g" (index) } { (terminal(self::group(group))) }
                            }
                        }
                        tr { @for column in &columns { (column.header()) } }
                    }
                    @for summary in &series.roles.in_order {
                        tbody data-p=[series.index_of(&summary.policy)] class=(series.roles.class(&summary.policy)) {
                            (policy_row(summary, series, &columns))
                            @for bound in results.summary.iter().filter(|bound| bound.bound_of.as_deref() == Some(&summary.policy)) {
                                tr class="bound" {
                                    th scope="row" { bdi { (terminal(&name(bound))) } }
                                    @for column in &columns { (column.cell(bound, &series.roles, false)) }
                                }
                            }
                        }
                    }
                }
            }
            p class="below" {
                "Green: the best of the policies that were compared; red: the worst, and requests that an API would refuse. Struck: do \
                 not use. ~ estimated, not counted; " (number_format::MISSING) " no value; ↓ less is better, ↑ more is better."
                @if has_bounds {
                    " Oracle rows (└) show what an oracle that knows the future would keep with the same tokens."
                }
            }
        }
        (meanings(results, &series.roles))
    }
}

/// The groups and their columns: the deciding ones, then all others by the beginning of their id: `cost.ratio`, `cost.usd`.
fn columns<'a>(results: &'a Results, roles: &Roles) -> (Vec<&'a str>, Vec<TableColumn<'a>>) {
    let mut groups = vec![FIRST];
    let mut columns: Vec<TableColumn> = DECIDING.iter().filter_map(|ids| TableColumn::deciding(ids, results, roles)).collect();
    if let Some((yardstick, column)) = roles.yardstick.zip(results.column(cost::RATIO)) {
        columns.insert(columns.len().min(1), TableColumn::change(column, roles.label(yardstick)));
    }
    let is_known = |columns: &[TableColumn], column: &Column| columns.iter().any(|known| known.id == column.id);
    for column in in_tables(results) {
        if is_known(&columns, column) {
            continue;
        }
        let group = column.id.split_once('.').map_or("counts", |(group, _)| group);
        let index = groups.iter().position(|known| *known == group).unwrap_or(groups.len());
        if index == groups.len() {
            groups.push(group);
        }
        columns.push(TableColumn::of_group(index, column, roles));
    }
    // Columns of one group are adjacent, so that one header is above them.
    columns.sort_by_key(|column| column.group);
    let mut last = 0;
    for column in &mut columns {
        column.is_first = column.group != last;
        last = column.group;
        column.ends = column.ends_of(roles);
    }
    (groups, columns)
}

impl<'a> TableColumn<'a> {
    fn deciding(ids: &[&str], results: &'a Results, roles: &Roles) -> Option<Self> {
        let parts: Vec<&Column> = ids.iter().filter_map(|id| results.column(id)).collect();
        let column = *parts.first()?;
        let (name, about) = match parts[..] {
            [only] => (words(only, roles), only.about.to_string()),
            _ => {
                let abouts: Vec<&str> = parts.iter().map(|part| &*part.about).collect();
                ("~requests refused".to_owned(), abouts.join("; and "))
            }
        };
        Some(Self { id: ids.join("+"), name, about, parts, ..Self::of_group(0, column, roles) })
    }

    /// The change of the cost, with the interval of the answer.
    fn change(column: &'a Column, yardstick: &str) -> Self {
        Self {
            group: 0,
            is_first: false,
            id: "change".to_owned(),
            name: format!("~cost against {yardstick}"),
            about: format!("the change of the cost against {yardstick}, as in the answer"),
            unit: column.unit,
            better: Direction::Lower,
            parts: Vec::new(),
            is_change: true,
            ends: None,
        }
    }

    fn of_group(group: usize, column: &'a Column, roles: &Roles) -> Self {
        Self {
            group,
            is_first: false,
            id: column.id.to_string(),
            name: words(column, roles),
            about: column.about.to_string(),
            unit: column.unit,
            better: column.better,
            parts: vec![column],
            is_change: false,
            ends: None,
        }
    }

    fn value(&self, summary: &Summary, roles: &Roles) -> Option<f64> {
        if self.is_change {
            return roles.cost_ratio(&summary.policy).filter(|_| summary.bound_of.is_none());
        }
        let values = self.parts.iter().filter_map(|part| summary.values.get(&part.id));
        values.reduce(|all, next| all + next).filter(|value| value.is_finite())
    }

    fn ends_of(&self, roles: &Roles) -> Option<[f64; 2]> {
        let values = roles.in_order.iter().filter(|summary| roles.is_candidate(&summary.policy));
        let values: Vec<f64> = values.filter_map(|summary| self.value(summary, roles)).collect();
        let low = values.iter().copied().reduce(f64::min)?;
        let high = values.iter().copied().reduce(f64::max)?;
        match self.better {
            _ if low == high || self.is_of_refused() => None,
            Direction::Lower => Some([low, high]),
            Direction::Higher => Some([high, low]),
            Direction::Neither => None,
        }
    }

    fn is_of_refused(&self) -> bool {
        self.parts.iter().any(|part| REFUSED.contains(&&*part.id))
    }

    /// CSS classes of a cell: its group, and whether it is the group's first.
    fn class(&self) -> String {
        format!("n g{}{}", self.group, if self.is_first { " first" } else { "" })
    }

    fn header(&self) -> Markup {
        let content = html! {
            abbr title=(terminal(&format!("{}: {}", self.id, self.about))) { (terminal(&self.name)) }
            @match self.better {
                Direction::Lower => span class="wanted" aria-label=", less is better" { "↓" },
                Direction::Higher => span class="wanted" aria-label=", more is better" { "↑" },
                Direction::Neither => {},
            }
        };
        html! {
            th scope="col" class=(self.class()) data-id=(terminal(&self.id)) { (sorter(&content)) }
        }
    }

    /// Draws a value and its interval; `is_judged` marks the best and the worst one.
    fn cell(&self, summary: &Summary, roles: &Roles, is_judged: bool) -> Markup {
        let value = self.value(summary, roles);
        let ends = match self.parts[..] {
            [] => {
                let ends = roles.cost_interval(&summary.policy).filter(|_| summary.bound_of.is_none());
                ends.map(shown_interval)
            }
            [only] => summary.intervals.entry(&only.id).and_then(|ends| number_format::interval(self.unit, ends)),
            _ => None,
        };
        let is_refused = self.is_of_refused() && value.is_some_and(|count| count > 0.0);
        let judged = match self.ends.filter(|_| is_judged) {
            _ if is_refused => " worst",
            Some([best, _]) if value == Some(best) => " best",
            Some([_, worst]) if value == Some(worst) => " worst",
            _ => "",
        };
        html! {
            td class={ (self.class()) (judged) } data-v=[value.map(|value| value.to_string())] {
                @if self.is_change { (change(value)) } @else { (number_format::value(self.unit, value)) }
                @if let Some(ends) = ends { small { (ends) } }
            }
        }
    }
}

/// `-3% … +1%`
fn shown_interval(ends: [f64; 2]) -> String {
    if is_too_wide(ends) { "too wide to say".to_owned() } else { ends.map(|end| change(Some(end))).join(" … ") }
}

/// Draws the row of a policy. Below its name is what it is, or why it must not be used.
fn policy_row(summary: &Summary, series: &PolicySeries, columns: &[TableColumn]) -> Markup {
    let (policy, roles) = (summary.policy.as_str(), &series.roles);
    let remark = roles.flaw(policy).map_or_else(|| roles.praise(policy), str::to_owned);
    let remark = if remark.is_empty() { roles.bound(policy).to_owned() } else { remark };
    html! {
        tr {
            th scope="row" data-v=(terminal(policy)) {
                button type="button" class="pin" aria-pressed="false" data-pin=[series.index_of(policy)]
                    data-name=(terminal(roles.label(policy))) {
                    @if let Some(style) = series.style(policy) { (sample(style)) }
                    (series.name(policy))
                }
                @if !remark.is_empty() { small { (terminal(&remark)) } }
            }
            @for column in columns { (column.cell(summary, roles, roles.is_candidate(policy))) }
        }
    }
}

/// Explains each column, for readers who cannot see the tooltips of the headers.
fn meanings(results: &Results, roles: &Roles) -> Markup {
    let list = html! {
        dl class="meanings" {
            @for column in in_tables(results) {
                dt title=(terminal(&column.id)) { (terminal(&words(column, roles))) }
                dd { (terminal(&plain(&column.about))) }
            }
        }
    };
    packed_details(&html! { "What the columns mean" }, &list)
}
