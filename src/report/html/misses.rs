//! Facts lost for good, with the text around each fact where the agent first read it.

use super::super::table_model::common_folder;
use super::super::{escape, number_format};
use super::series::PolicySeries;
use crate::results::saved::{MissRow, Results};
use crate::util::text::plural;

/// Lists the lost facts of all policies, grouped by policy.
pub fn by_policy(results: &Results, series: &PolicySeries) -> String {
    let folder = common_folder(results.misses.iter().map(|miss| miss.transcript.as_str()));
    let mut policies: Vec<&str> = Vec::new();
    for miss in &results.misses {
        if !policies.contains(&miss.policy.as_str()) {
            policies.push(&miss.policy);
        }
    }
    let recommended = results.sweep.as_ref().and_then(|sweep| Some(sweep.recommended.as_ref()?.policy.as_str()));
    let group = |policy: &&str| {
        let own: Vec<&MissRow> = results.misses.iter().filter(|miss| miss.policy == *policy).collect();
        let list = list(&own, series, folder);
        format!(
            r#"<details class="missed"{}{}><summary><bdi>{}</bdi> <small>{}</small></summary>{list}</details>"#,
            series.tag(policy),
            if policies.len() <= 4 || recommended == Some(*policy) { " open" } else { "" },
            escape::html(policy),
            plural(own.len(), "lost fact"),
        )
    };
    policies.iter().map(group).collect()
}

/// Lists lost facts. `prefix` is left out of their paths: a folder, or the whole transcript path.
pub fn list(misses: &[&MissRow], series: &PolicySeries, prefix: &str) -> String {
    let items: String = misses.iter().map(|miss| item(miss, series, prefix)).collect();
    format!(r#"<ol class="misses">{items}</ol>"#)
}

fn item(miss: &MissRow, series: &PolicySeries, prefix: &str) -> String {
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
        "needed at call {} ({location}), {}{more}",
        number_format::grouped(miss.call as f64, 0),
        plural(miss.uses as usize, "use"),
    );
    let lines: Vec<String> = [needed, removed].iter().filter(|line| !line.is_empty()).map(|line| escape::html(line)).collect();
    let context = match miss.context.as_str() {
        "" => String::new(),
        context => format!(r#"<pre tabindex="0">{}</pre>"#, marked(context, &miss.fact)),
    };
    format!(
        r#"<li{}><p class="fact"><bdi><code>{}</code></bdi> <small>{} · {}</small></p>{context}<p class="remark"><bdi>{}</bdi></p></li>"#,
        series.tag(&miss.policy),
        escape::html(&miss.fact),
        escape::html(&miss.kind),
        escape::html(&format!("from {}, line {}", miss.origin, miss.origin_line)),
        lines.join("; "),
    )
}

/// Renders the context with the fact highlighted.
fn marked(context: &str, fact: &str) -> String {
    match context.split_once(fact).filter(|_| !fact.is_empty()) {
        Some((before, after)) => format!("{}<mark>{}</mark>{}", lines(before), lines(fact), lines(after)),
        None => lines(context),
    }
}

/// Escapes the lines of a text; a line break at its end starts one more line.
fn lines(text: &str) -> String {
    text.split('\n').map(|line| escape::html(&line.trim_end_matches('\r').replace('\t', "    "))).collect::<Vec<_>>().join("\n")
}
