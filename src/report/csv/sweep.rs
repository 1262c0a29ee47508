//! A sweep as CSV: a line for each configuration, on the Pareto front or not, with its settings and totals.

use crate::results::saved::Sweep;

use super::{IN_MEMORY, number, text};

/// The columns before the settings and after them.
const NAMES: [[&str; 2]; 2] = [["policy", "of"], ["recommended", "dominated"]];
/// What a configuration was replayed on, and how it did.
const OUTCOMES: [&str; 4] = ["sessions", "allowed", "missed", "front"];

/// Writes the configurations in the order in which they were tried. A setting that a configuration leaves as it is, is empty.
pub fn write(sweep: &Sweep) -> Vec<u8> {
    let configurations = || sweep.configurations.iter();
    let settings = sweep.varied();
    let columns = sweep.columns();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let [names, choice] = NAMES;
    let header = [&names[..], &settings, &OUTCOMES, &choice, &columns].concat();
    writer.write_record(header.into_iter().map(text)).expect(IN_MEMORY);
    for row in configurations() {
        let recommended = sweep.recommended.as_ref().is_some_and(|best| best.policy == row.policy);
        let outcomes = [row.sessions.to_string(), row.allowed.to_string(), row.missed.join(" "), row.front.to_string()];
        let cells = [text(&row.policy), text(&row.of)]
            .into_iter()
            .chain(settings.iter().map(|parameter| text(row.setting(parameter).unwrap_or_default())))
            .chain(outcomes)
            .chain([recommended.to_string(), number(row.dominated)])
            .chain(columns.iter().map(|column| number(row.values.get(column))));
        writer.write_record(cells).expect(IN_MEMORY);
    }
    writer.into_inner().expect(IN_MEMORY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::saved::{ConfigurationRow, ParameterRow, Recommendation};

    #[test]
    fn every_configuration_has_a_line_with_its_settings() {
        let parameter =
            |name: &str| ParameterRow { of: "p".into(), parameter: name.into(), values: vec!["1".into(), "2".into()] };
        let row = |policy: &str, settings: &[(&str, &str)], front, hit| ConfigurationRow {
            policy: policy.into(),
            of: "p".into(),
            settings: settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            sessions: 3,
            values: [("kept.hit", hit), ("cost.ratio", None)].into_iter().collect(),
            allowed: policy != "p-2",
            missed: if policy == "p-2" { vec!["kept.hard".into(), "cost.ratio".into()] } else { vec![] },
            front,
            dominated: front.then_some(0.25),
        };
        let sweep = Sweep {
            parameters: vec![parameter("a.b"), parameter("=c.d")],
            configurations: vec![
                row("p", &[], false, Some(0.5)),
                row("p-1", &[("a.b", "1"), ("=c.d", "-2")], true, Some(0.75)),
                row("p-2", &[("a.b", "2")], false, None),
            ],
            recommended: Some(Recommendation { policy: "p-1".into(), ..Recommendation::default() }),
            ..Sweep::default()
        };
        let expected = "policy,of,a.b,'=c.d,sessions,allowed,missed,front,recommended,dominated,kept.hit,cost.ratio\n\
                        p,p,,,3,true,,false,false,,0.5,\n\
                        p-1,p,1,'-2,3,true,,true,true,0.25,0.75,\n\
                        p-2,p,2,,3,false,kept.hard cost.ratio,false,false,,,\n";
        assert_eq!(String::from_utf8(write(&sweep)).expect("UTF-8"), expected);
    }
}
