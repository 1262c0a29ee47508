//! When prices were read from their sources.

use jiff::civil::Date;

use super::{PriceEntry, Prices, names};

impl Prices {
    /// Returns the first and the last day on which the prices of these models were read, as the lists say; `None` if they do not say it.
    pub fn dates<'a>(&self, models: impl IntoIterator<Item = &'a str>) -> Option<[String; 2]> {
        let days = models.into_iter().flat_map(|model| self.known_entries(&names::lookup_keys(model)));
        let days = days.filter_map(|entry| entry.date.as_deref()?.parse::<Date>().ok());
        let (first, last) = days.fold(None, |ends, day| match ends {
            None => Some((day, day)),
            Some((first, last)) => Some((day.min(first), day.max(last))),
        })?;
        Some([first.to_string(), last.to_string()])
    }

    /// Returns the entries of a model: those of the first list that has any.
    fn known_entries(&self, keys: &[String]) -> Vec<&PriceEntry> {
        match keys.iter().find_map(|key| self.positions.get(key)) {
            Some(positions) => positions.iter().map(|(entry, _)| &self.entries[*entry]).collect(),
            None => self.fallback.list_with(keys).map_or_else(Vec::new, |list| list.known_entries(keys)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_models_that_are_asked_for() {
        let price = |name: &str, date: &str| {
            format!("[[model]]\nnames = [\"{name}\"]\ninput = 5\noutput = 25\ncache_read = 0.5\ndate = \"{date}\"\n")
        };
        let text = [price("a", "2026-03-01"), price("b", "2026-01-01"), price("c", "2026-02-01"), price("d", "in May")].concat();
        let list = Prices::parse(&text, "list").expect("prices").or_built_in();
        let days = |first: &str, last: &str| Some([first.to_owned(), last.to_owned()]);
        assert_eq!(list.dates(["a", "c", "unknown"]), days("2026-02-01", "2026-03-01"));
        assert_eq!(list.dates(["anthropic/b"]), days("2026-01-01", "2026-01-01"));
        assert_eq!((list.dates(["d"]), list.dates([])), (None, None));
        assert!(list.dates(["claude-opus-4-6"]).is_some_and(|[first, _]| first.starts_with("2026-")), "the built-in list");
    }
}
