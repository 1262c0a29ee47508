//! Tables of the page: any table model, and the comparison of all policies by all columns.

use super::super::table_model::compare::{in_tables, keep_all_first, name, title};
use super::super::table_model::{CellKind, ColumnHeader, TableModel};
use super::super::{escape, number_format};
use super::series::PolicySeries;
use crate::results::saved::{Column, Direction, Results, Summary};

/// Draws a table in a box that scrolls sideways. Its title is the caption; `caption_visible` says whether the caption
/// is shown or only read by screen readers.
pub fn draw(table: &TableModel, series: &PolicySeries, caption_visible: bool) -> String {
    let title = match table.subject.as_str() {
        "" => escape::html(&table.title),
        subject => format!("{}: {}", escape::html(&table.title), escape::html(subject)),
    };
    let headers: String = table.headers.iter().map(|header| head_cell(header, series)).collect();
    let rows: String = table.rows.iter().map(|cells| row(table, cells, series)).collect();
    let footnotes: String = table.footnotes.iter().map(|line| format!("<p class=\"below\">{}</p>", escape::html(line))).collect();
    if table.is_verbatim() {
        let lines: Vec<String> = table.rows.iter().flatten().map(|line| escape::html(line)).collect();
        return format!(
            r#"<div class="sheet"><div class="scroll" tabindex="0" role="region" aria-label="{title}"><pre>{}</pre></div>{footnotes}</div>"#,
            lines.join("\n")
        );
    }
    let hidden = if caption_visible { "" } else { r#" class="heard""# };
    format!(
        r#"<div class="sheet"><div class="scroll" tabindex="0" role="region" aria-label="{title}"><table><caption{hidden}>{title}</caption><thead><tr>{headers}</tr></thead><tbody>{rows}</tbody></table></div>{footnotes}</div>"#
    )
}

fn head_cell(header: &ColumnHeader, series: &PolicySeries) -> String {
    let text = escape::html(&header.text);
    match header.kind {
        CellKind::Numbers => format!(r#"<th scope="col" class="n"{}>{}</th>"#, series.tag(&header.text), sorter(&text)),
        _ => format!(r#"<th scope="col">{text}</th>"#),
    }
}

/// Renders a header that sorts its column; without the script it is a plain header.
fn sorter(text: &str) -> String {
    format!(r#"<button type="button" class="sort">{text}</button>"#)
}

fn row(table: &TableModel, cells: &[String], series: &PolicySeries) -> String {
    let tag = match table.headers.first() {
        Some(header) if header.text == "policy" => cells.first().map_or(String::new(), |policy| series.tag(policy)),
        _ => String::new(),
    };
    // A row may have fewer cells than there are columns.
    let cells = table.headers.iter().zip(cells.iter().map(String::as_str).chain(std::iter::repeat("")));
    let cell = |(index, (header, text)): (usize, (&ColumnHeader, &str))| {
        let text = escape::html(text);
        match header.kind {
            _ if index == 0 => format!(r#"<th scope="row"><bdi>{text}</bdi></th>"#),
            CellKind::Numbers => format!(r#"<td class="n"{}>{text}</td>"#, series.tag(&header.text)),
            CellKind::Prose | CellKind::Verbatim => format!(r#"<td class="prose"><bdi>{text}</bdi></td>"#),
            CellKind::Names | CellKind::Words => format!("<td><bdi>{text}</bdi></td>"),
        }
    };
    format!("<tr{tag}>{}</tr>", cells.enumerate().map(cell).collect::<String>())
}

/// Draws policies × columns, with intervals. Each policy and its bounds form one `tbody`, so that sorting keeps them
/// together.
pub fn comparison(results: &Results, series: &PolicySeries) -> String {
    let groups = groups(results);
    let mut labels: Vec<&str> = Vec::new();
    groups.iter().for_each(|(label, _)| {
        if !labels.contains(label) {
            labels.push(label);
        }
    });
    let number = |label: &str| labels.iter().position(|known| *known == label).unwrap_or(0);
    let group_headers: String = groups
        .iter()
        .map(|(label, columns)| {
            let text = escape::html(label);
            format!(r#"<th scope="colgroup" colspan="{}" class="g g{}">{text}</th>"#, columns.len(), number(label))
        })
        .collect();
    let columns: Vec<(usize, bool, &Column)> = groups
        .iter()
        .flat_map(|(label, columns)| columns.iter().enumerate().map(|(index, column)| (number(label), index == 0, *column)))
        .collect();
    let headers: String = columns
        .iter()
        .map(|(group, first, column)| {
            let (name, about) = (name_in_group(column), escape::html(&column.about));
            let text = format!(r#"<abbr title="{about}">{}</abbr>{}"#, escape::html(&name), better_arrow(column.better));
            format!(r#"<th scope="col" class="n g{group}{}">{}</th>"#, if *first { " first" } else { "" }, sorter(&text))
        })
        .collect();
    let mut bodies = String::new();
    for summary in keep_all_first(results) {
        let cells: String = columns.iter().map(|(group, first, column)| value(summary, column, *group, *first)).collect();
        if summary.bound_of.is_none() {
            bodies += &format!("{}<tbody{}>", if bodies.is_empty() { "" } else { "</tbody>" }, series.tag(&summary.policy));
        } else if bodies.is_empty() {
            bodies += "<tbody>";
        }
        bodies += &named_row(summary, results, series, &cells);
    }
    let chooser = |(index, label): (usize, &&str)| {
        format!(r#"<button type="button" class="group" aria-pressed="true" data-g="{index}">{}</button>"#, escape::html(label))
    };
    let choosers: String = labels.iter().enumerate().map(chooser).collect();
    format!(
        r#"<div class="groups live" role="group" aria-label="Columns shown">{choosers}</div><div class="sheet"><div class="scroll tall" tabindex="0" role="region" aria-label="Policies by column"><table id="comparison"><caption class="heard">Policies by column, with intervals where there are any</caption><thead><tr><th scope="col" rowspan="2">{}</th>{group_headers}</tr><tr>{headers}</tr></thead>{bodies}</tbody></table></div><p class="below">~ estimated, not counted; {} no value; ↓ less is better, ↑ more is better; └ a bound of the policy above: what an oracle that knows the future would do with the same tokens</p></div>{}"#,
        sorter("policy"),
        number_format::MISSING,
        meanings(results)
    )
}

/// Groups adjacent columns whose ids begin alike: `cost.ratio`, `cost.usd`.
fn groups(results: &Results) -> Vec<(&str, Vec<&Column>)> {
    let mut groups: Vec<(&str, Vec<&Column>)> = Vec::new();
    for column in in_tables(results) {
        let label = column.id.split_once('.').map_or("counts", |(group, _)| group);
        match groups.last_mut() {
            Some((last, columns)) if *last == label => columns.push(column),
            _ => groups.push((label, vec![column])),
        }
    }
    groups
}

fn name_in_group(column: &Column) -> String {
    let name = column.id.split_once('.').map_or(&*column.id, |(_, name)| name).replace('_', " ");
    format!("{}{name}", if column.estimated { "~" } else { "" })
}

fn better_arrow(better: Direction) -> &'static str {
    match better {
        Direction::Lower => r#"<span class="wanted" aria-label=", less is better">↓</span>"#,
        Direction::Higher => r#"<span class="wanted" aria-label=", more is better">↑</span>"#,
        Direction::Neither => "",
    }
}

/// Renders the row of a policy. Below the name of a sweep's configuration, which is only a number, are its settings.
fn named_row(summary: &Summary, results: &Results, series: &PolicySeries, cells: &str) -> String {
    let text = escape::html(&name(summary));
    let Some(index) = series.index_of(&summary.policy).filter(|_| summary.bound_of.is_none()) else {
        return format!(r#"<tr class="bound"><th scope="row"><bdi>{text}</bdi></th>{cells}</tr>"#);
    };
    let configurations = results.sweep.iter().flat_map(|sweep| &sweep.configurations);
    let own_settings =
        configurations.filter(|row| row.policy == summary.policy && row.policy != row.of).flat_map(|row| &row.settings);
    let settings: Vec<String> = own_settings.map(|(name, value)| escape::html(&format!("{name}={value}"))).collect();
    let settings =
        if settings.is_empty() { String::new() } else { format!("<small><bdi>{}</bdi></small>", settings.join("</bdi> <bdi>")) };
    let sample = series.style(&summary.policy).map_or(String::new(), super::series::sample);
    format!(
        r#"<tr><th scope="row"><button type="button" class="pin" aria-pressed="false" data-pin="{index}" data-name="{text}">{sample}<bdi>{text}</bdi></button>{settings}</th>{cells}</tr>"#
    )
}

fn value(summary: &Summary, column: &Column, group: usize, first: bool) -> String {
    let value = summary.values.get(&column.id).filter(|value| value.is_finite());
    let raw = value.map_or(String::new(), |value| format!(r#" data-v="{value}""#));
    let ends = summary.intervals.entry(&column.id).map_or(String::new(), |ends| {
        number_format::interval(column.unit, *ends).map_or(String::new(), |ends| format!("<small>{ends}</small>"))
    });
    let first = if first { " first" } else { "" };
    format!(r#"<td class="n g{group}{first}"{raw}>{}{ends}</td>"#, number_format::value(column.unit, value))
}

/// Explains each column, for readers who cannot see the tooltips of the headers.
fn meanings(results: &Results) -> String {
    let entry = |column: &Column| format!("<dt>{}</dt><dd>{}</dd>", escape::html(&title(column)), escape::html(&column.about));
    let all: String = in_tables(results).map(entry).collect();
    format!(r#"<details><summary>What the columns mean</summary><dl class="meanings">{all}</dl></details>"#)
}
