//! The secrets of one file, with their places.

use std::collections::BTreeMap;

use super::Compacted;
use super::place::Place;
use crate::analysis::secrets::{RULES, Rule, Secrets, search};
use crate::findings::Finding;

/// The same secret at all its places in one file.
pub struct SecretPlaces {
    pub rule: &'static Rule,
    /// Its places, in the order of the file.
    pub places: Vec<Place>,
}

/// Searches the texts of one file for secrets, and hides them in findings.
#[derive(Default)]
pub struct SecretSearch {
    /// Places by rule and secret. The secrets themselves never leave this map.
    places: BTreeMap<(usize, String), Vec<Place>>,
    secrets: Secrets,
}

impl SecretSearch {
    /// Searches a text. `place` returns the place of a byte in the text.
    pub fn scan(&mut self, text: &str, place: impl Fn(usize) -> Place) {
        search(text, |rule, at, secret| {
            self.places.entry((rule, secret.to_owned())).or_default().push(place(at));
            self.secrets.add(secret);
        });
    }

    /// Hides the found secrets in everything that quotes a transcript: reports show only their kind and place.
    pub fn hide_all(&self, findings: &mut [Finding], compactions: &mut [Compacted]) {
        self.secrets.hide_in_findings(findings);
        let lost = compactions.iter_mut().filter_map(|compacted| compacted.lost.as_mut());
        lost.flat_map(|lost| &mut lost.nowhere_facts).for_each(|fact| self.secrets.hide_fact(&mut fact.text));
    }

    /// Returns the found secrets, sorted by their first place.
    pub fn found(&self) -> Vec<SecretPlaces> {
        let secret_places =
            |((rule, _), places): (&(usize, String), &Vec<Place>)| SecretPlaces { rule: &RULES[*rule], places: places.clone() };
        let mut found: Vec<SecretPlaces> = self.places.iter().map(secret_places).collect();
        found.sort_by(|a, b| (&a.places, a.rule.name).cmp(&(&b.places, b.rule.name)));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_secret_is_reported_once_with_all_places() {
        let mut search = SecretSearch::default();
        for line in [3, 9] {
            search.scan("redis://cache:Tq8-vene7@redis.internal", |_| Place { line, call: None, block: "file" });
        }
        let found = search.found();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].places.iter().map(|place| place.line).collect::<Vec<_>>(), [3, 9]);
    }
}
