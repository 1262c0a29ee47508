//! Draws a screen for a terminal.

use crate::util::text::{plural, wrap};

use super::super::table::draw_rows;
use super::super::table_model::Tone;
use super::super::{Style, escape};
use super::{CHANGES_TITLE, CHECKS_TITLE, Check, Screen, Step, fit};

const NEXT: &str = "Next";
/// Fewest checks that stay as long as rows of the table and changes can go; one always stays.
const MIN_CHECKS: usize = 2;
/// Fewest changes that stay.
const MIN_CHANGES: usize = 1;
/// Fewest rows of the table that stay.
const MIN_ROWS: usize = 3;

/// Draws a screen. If it has more than `max_lines` lines, the last checks and then the last rows of the table are only counted, and then
/// the last changes are left out.
pub fn draw(screen: &Screen, style: &Style, max_lines: usize) -> Vec<u8> {
    let style = Style { width: style.width.clamp(super::super::table::MIN_WIDTH, 1_000), ..*style };
    let (mut rows, mut checks, mut changes) = (screen.table.model.rows.len(), screen.checks.len(), screen.changes.len());
    // A change of one line outlasts rows of the table; one of several lines does not.
    let is_long = |change: &Check| draw_check(change, &style).lines().count() > 1;
    let text = loop {
        let text = draw_part(screen, (rows, checks, changes), &style);
        let too_many = text.lines().count().saturating_sub(max_lines);
        if too_many > 0 && checks > MIN_CHECKS.min(screen.checks.len()) {
            checks -= 1;
        } else if too_many > 0 && changes > MIN_CHANGES && is_long(&screen.changes[changes - 1]) {
            changes -= 1;
        } else if too_many > 0 && rows > MIN_ROWS.min(screen.table.model.rows.len()) {
            // A row may have several lines.
            rows = rows.saturating_sub(too_many.div_ceil(3)).max(MIN_ROWS);
        } else if too_many > 0 && changes > MIN_CHANGES {
            changes -= 1;
        } else if too_many > 0 && checks > 1 {
            checks -= 1;
        } else {
            break text;
        }
    };
    escape::without_commands(&text).into_owned().into_bytes()
}

/// Draws the first rows, checks and changes.
fn draw_part(screen: &Screen, (rows, checks, changes): (usize, usize, usize), style: &Style) -> String {
    let bold = |text: &str| if style.color { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() };
    let name = |name: &str| escape::terminal(name).into_owned();
    let mut out = wrap("", &screen.scope.text(name), style.width) + "\n";
    for (index, sentences) in screen.answer.iter().enumerate() {
        let text = wrap("", &sentences.text(|text| format!("`{}`", escape::terminal(text))), style.width);
        out += &if index == 0 { bold(text.trim_end()) + "\n" } else { text };
    }
    if rows > 0 {
        out += "\n";
        out += &table(screen, rows, style);
    }
    if !screen.checks.is_empty() {
        out += &format!("\n{}\n", bold(CHECKS_TITLE));
        screen.checks.iter().take(checks).for_each(|check| out += &draw_check(check, style));
        let more = screen.checks.len() - checks;
        if more > 0 {
            out += &format!("  and {}: --full\n", plural(more, "more point"));
        }
    }
    if !screen.changes.is_empty() {
        out += &format!("\n{}\n", bold(CHANGES_TITLE));
        screen.changes.iter().take(changes).for_each(|change| out += &draw_check(change, style));
    }
    if !screen.next.is_empty() {
        out += &format!("\n{}\n", bold(NEXT));
        let column = screen.next.iter().map(|step| step.command.chars().count()).filter(|width| *width < style.width / 2).max();
        screen.next.iter().for_each(|step| out += &draw_step(step, column.unwrap_or(0), style));
    }
    out
}

fn table(screen: &Screen, rows: usize, style: &Style) -> String {
    let mut model = fit::fitted(&screen.table, style.width);
    let kept = fit::kept_rows(&screen.table, rows);
    let hidden = model.rows.len() - kept.len();
    model.rows = kept.iter().map(|at| std::mem::take(&mut model.rows[*at])).collect();
    let tones: Vec<Tone> = kept.iter().filter_map(|at| screen.table.tones.get(*at).copied()).collect();
    let rule = "─".repeat(fit::width(&model, style.width));
    let mut out = draw_rows(&model, &tones, style);
    if hidden > 0 {
        let option =
            if screen.table.section.is_empty() { "--full".to_owned() } else { format!("--show {}", screen.table.section) };
        out += &format!("… and {}: {option}\n", plural(hidden, "more row"));
    }
    out += &format!("{rule}\n");
    for line in &model.footnotes {
        out += &wrap("", line, style.width);
    }
    out
}

fn draw_check(check: &Check, style: &Style) -> String {
    let text = check.text.text(|name| format!("`{}`", escape::terminal(name)));
    let more = if check.section.is_empty() { String::new() } else { format!(" [--show {}]", check.section) };
    wrap("  - ", &(text + &more), style.width)
}

/// Draws a command, and behind it what it does; below it if the command is long.
fn draw_step(step: &Step, column: usize, style: &Style) -> String {
    let command = escape::terminal(&step.command);
    let width = command.chars().count();
    let fits = |width: usize| width + step.why.chars().count() + 4 <= style.width;
    if width <= column && fits(column) {
        return format!("  {command}{:1$}  {why}\n", "", column - width, why = step.why);
    }
    if fits(width) {
        return format!("  {command}  {}\n", step.why);
    }
    format!("  {command}\n{}", wrap("      ", &step.why, style.width))
}
