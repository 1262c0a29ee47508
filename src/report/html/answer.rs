//! The answer, first on the page: what to use, in sentences and in numbers. The sentences are those of the terminal's screen.

use std::borrow::Cow;

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::number_format;
use super::super::screen::{CHANGES_TITLE, CHECKS_TITLE, Check, Prose, Screen, change, money};
use super::roles::Roles;
use super::series::refused;
use super::words::plain;
use crate::analysis::verdict::{HarnessVerdict, Standing, Verdict};
use crate::metrics::metric::{cost, retention, tokens};
use crate::results::Role;
use crate::results::saved::{Results, Unit, Values};

/// Draws text with names in it, and what is in parentheses smaller.
pub(super) fn prose(text: &Prose) -> Markup {
    let words = |words: &str| match words.starts_with(" (").then(|| words.split_once(')')).flatten() {
        Some((noted, rest)) => html! { small { (noted) ")" } (rest) },
        None => html! { (words) },
    };
    let name = |name: &str| html! { bdi { code { (terminal(&plain(name))) } } };
    html! {
        @for part in text.map(words, name) { (part) }
    }
}

/// Draws the answer, its numbers, and what to check before it is trusted.
/// There is one answer for each of several harnesses.
pub fn answer(
    screen: &Screen,
    results: &Results,
    (roles, harnesses): (&Roles, &[HarnessVerdict]),
    anchor: impl Fn(&str) -> Option<String>,
) -> Markup {
    let mut sentences = screen.answer.iter();
    html! {
        div class="card answer" {
            p class="lead" { (prose(&screen.scope)) }
            @if harnesses.is_empty() {
                @if let Some(first) = sentences.next() { h1 { (prose(first)) } }
                @for sentence in sentences { p { (prose(sentence)) } }
                (numbers_of_all(results, roles))
            } @else {
                h1 { (format!("One answer for each of {} harnesses", harnesses.len())) }
                @for (harness, sentence) in harnesses.iter().zip(sentences) {
                    h2 { bdi { (terminal(&harness.part.format)) } }
                    p { (prose(sentence)) }
                    (numbers_of_harness(&harness.verdict, roles))
                }
            }
            (points(CHECKS_TITLE, &screen.checks, &anchor))
            (points(CHANGES_TITLE, &screen.changes, &anchor))
        }
    }
}

/// Draws points to check or to change, with links to the parts of the page that show more.
fn points(title: &str, points: &[Check], anchor: impl Fn(&str) -> Option<String>) -> Markup {
    html! {
        @if !points.is_empty() {
            h2 { (title) }
            ul class="checks" {
                @for check in points {
                    li {
                        (prose(&check.text))
                        @if let Some(anchor) = anchor(check.section) { " " a href={ "#" (anchor) } { "Show" } }
                    }
                }
            }
        }
    }
}

/// One number of the chosen policy, and the same of what is used today.
struct Tile {
    name: &'static str,
    value: String,
    today: Option<String>,
}

/// Draws the numbers of the policy that the answer for a harness names, over the sessions of this harness.
fn numbers_of_harness(verdict: &Verdict, roles: &Roles) -> Markup {
    let mut candidates = verdict.candidates();
    let only = candidates.next().filter(|_| candidates.next().is_none());
    let Some(chosen) = verdict.chosen().or(only) else { return Markup::default() };
    let recorded = verdict.standings.iter().find(|standing| standing.summary.role() == Role::Recorded);
    let yardstick = verdict.yardstick.policy.and_then(|policy| verdict.standing(policy));
    let today = recorded.or(yardstick).filter(|today| today.policy() != chosen.policy());
    tiles(&side(chosen), today.map(|today| (today.policy(), side(today))), roles)
}

fn side<'a>(standing: &Standing<'a>) -> Side<'a> {
    (standing.cost_ratio(), &standing.summary.values)
}

/// Draws the numbers of the chosen policy beside those of the recorded session, else of the yardstick.
fn numbers_of_all(results: &Results, roles: &Roles) -> Markup {
    let of = |policy: &str| roles.in_order.iter().find(|summary| summary.policy == policy).map(|summary| &summary.values);
    let mut candidates = roles.in_order.iter().map(|summary| summary.policy.as_str()).filter(|policy| roles.is_candidate(policy));
    // Of several policies of which none is fit, no one is better than the others.
    let only = candidates.next().filter(|_| candidates.next().is_none());
    let chosen = roles.only_chosen().or(only);
    let Some(chosen) = chosen else { return Markup::default() };
    let unchanged = results.sweep.as_ref().and_then(|sweep| sweep.configurations.iter().find(|row| row.policy == chosen));
    let unchanged = unchanged.map(|row| row.of.as_str()).filter(|of| *of != chosen);
    let recorded = roles.in_order.iter().find(|summary| summary.role() == Role::Recorded).map(|summary| summary.policy.as_str());
    let today = [unchanged, recorded, roles.yardstick].into_iter().flatten().find(|policy| of(policy).is_some());
    let today = today.filter(|today| *today != chosen);
    let side = |policy: &str| Some((roles.cost_ratio(policy), of(policy)?));
    let Some(own) = side(chosen) else { return Markup::default() };
    tiles(&own, today.and_then(|name| Some((name, side(name)?))), roles)
}

/// Draws numbers beside those of the policy that is used today.
fn tiles(own: &Side, today: Option<(&str, Side)>, roles: &Roles) -> Markup {
    html! {
        dl class="tiles" {
            @for tile in numbers(own, today.as_ref().map(|(_, side)| side)) {
                div {
                    dt { (tile.name) }
                    dd { (tile.value) }
                    @if let (Some((name, _)), Some(today)) = (today, tile.today) { dd class="today" { (brief(name, roles)) ": " (today) } }
                }
            }
        }
    }
}

/// The name of what is used today, as short as the place asks for.
fn brief<'a>(policy: &'a str, roles: &Roles) -> Cow<'a, str> {
    match Role::of(policy) {
        Role::Recorded => Cow::Borrowed("recorded"),
        _ if roles.is_candidate(policy) => Cow::Borrowed("as it is"),
        _ => Cow::Owned(terminal(roles.label(policy)).into_owned()),
    }
}

/// The cost as a share of the yardstick's, and the totals.
type Side<'a> = (Option<f64>, &'a Values);

fn numbers(own: &Side, today: Option<&Side>) -> Vec<Tile> {
    let tile = |name, show: &dyn Fn(&Side) -> String| Tile { name, value: show(own), today: today.map(show) };
    let share = |id: &'static str| move |(_, values): &Side| number_format::value(Unit::Share, values.get(id));
    vec![
        tile("cost", &|(_, values)| values.get(cost::USD).map_or(number_format::MISSING.to_owned(), money)),
        tile("change of the cost", &|(ratio, _)| change(*ratio)),
        tile("tokens sent", &|(_, values)| change(values.get(tokens::SAVED).map(|saved| 1.0 - saved))),
        tile("facts in context", &share(retention::HIT)),
        tile("facts lost for good", &share(retention::HARD)),
        tile("requests refused", &|(_, values)| number_format::value(Unit::Count, refused(values))),
    ]
}
