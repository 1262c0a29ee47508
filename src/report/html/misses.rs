//! Facts lost for good, with the text around each fact where the agent first read it.

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::number_format;
use super::super::table_model::common_folder;
use super::numbers::Numbers;
use super::series::PolicySeries;
use crate::results::saved::{MissRow, Results};
use crate::util::text::plural;

/// Lists the lost facts of all policies, grouped by policy.
pub fn by_policy(results: &Results, series: &PolicySeries) -> Markup {
    let folder = common_folder(results.misses.iter().map(|miss| miss.transcript.as_str()));
    let mut policies: Vec<&str> = Vec::new();
    for miss in &results.misses {
        if !policies.contains(&miss.policy.as_str()) {
            policies.push(&miss.policy);
        }
    }
    // The chosen policy's lost facts are what matters first.
    policies.sort_by_key(|policy| !series.roles.is_chosen(policy));
    let numbers = Numbers::new(results);
    html! {
        @for policy in &policies {
            @let own: Vec<&MissRow> = results.misses.iter().filter(|miss| miss.policy == *policy).collect();
            details class="missed" data-p=[series.index_of(policy)] open[series.roles.is_chosen(policy)] {
                summary { (series.name(policy)) " " small { (plural(own.len(), "lost fact")) } }
                (list(&own, series, folder, &numbers))
            }
        }
    }
}

/// Lists lost facts. `prefix` is left out of their paths: a folder, or the whole transcript path.
pub fn list(misses: &[&MissRow], series: &PolicySeries, prefix: &str, numbers: &Numbers) -> Markup {
    html! {
        ol class="misses" {
            @for miss in misses { (item(miss, series, prefix, numbers)) }
        }
    }
}

fn item(miss: &MissRow, series: &PolicySeries, prefix: &str, numbers: &Numbers) -> Markup {
    let path = miss.transcript.strip_prefix(prefix).filter(|path| !path.is_empty());
    let location = path.map_or(format!("line {}", miss.line), |path| format!("{path}:{}", miss.line));
    let removed = match (&miss.layer, miss.lost_at) {
        (Some(layer), Some(call)) => format!("removed by {layer} before call {}", number_format::grouped(call as f64, 0)),
        (Some(layer), None) => format!("removed by {layer}"),
        _ => String::new(),
    };
    let more = if miss.more > 0 {
        format!(", with {} of the same origin", plural(miss.more as usize, "other fact"))
    } else {
        String::new()
    };
    let needed = format!(
        "{} at call {} ({location}), {}{more}",
        if miss.fetched { "fetched again" } else { "needed" },
        number_format::grouped(miss.call as f64, 0),
        plural(miss.uses as usize, "use"),
    );
    let lines: Vec<_> = [&needed, &removed].into_iter().filter(|line| !line.is_empty()).map(|line| terminal(line)).collect();
    html! {
        li data-p=[series.index_of(&miss.policy)] {
            p class="fact" {
                bdi { code { (terminal(&miss.fact)) } }
                " " small { (terminal(&miss.kind)) " · " (terminal(&format!("from {}, line {}", miss.origin, miss.origin_line))) }
            }
            @if !miss.context.is_empty() {
                pre tabindex="0" { (marked(&miss.context, &miss.fact)) }
            }
            p class="remark" {
                bdi { (lines.join("; ")) }
                " "
                (go_to(numbers.of(&miss.transcript, &miss.conversation), miss.call, series.index_of(&miss.policy)))
            }
        }
    }
}

/// A button that shows a call in the plot of its conversation, if that is on the page.
pub fn go_to(conversation: Option<usize>, call: usize, policy: Option<usize>) -> Markup {
    html! {
        @if let Some(conversation) = conversation {
            button type="button" class="go live" data-t=(conversation) data-call=(call) data-policy=[policy] { "Show call " (call) }
        }
    }
}

/// Renders the context with the fact highlighted.
fn marked(context: &str, fact: &str) -> Markup {
    html! {
        @match context.split_once(fact).filter(|_| !fact.is_empty()) {
            Some((before, after)) => { (lines(before)) mark { (lines(fact)) } (lines(after)) },
            None => { (lines(context)) },
        }
    }
}

/// Escapes the lines of a text for a terminal; a line break at its end starts one more line.
fn lines(text: &str) -> String {
    text.split('\n')
        .map(|line| terminal(&line.trim_end_matches('\r').replace('\t', "    ")).into_owned())
        .collect::<Vec<_>>()
        .join("\n")
}
