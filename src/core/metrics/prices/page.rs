//! Text that the catalog shows for a price.

use toml::Value;

use super::{Price, PriceEntry};

impl Price {
    /// Returns `input 5, output 25, read 0.5, write 6.25, for 1 h 10; USD per million`, without prices equal to the one
    /// before.
    pub fn line(&self) -> String {
        let Self { input, output, cache_read, cache_write_5m, cache_write_1h } = self;
        let mut line = format!("input {input}, output {output}, read {cache_read}");
        if cache_write_5m != input {
            line += &format!(", write {cache_write_5m}");
        }
        if cache_write_1h != cache_write_5m {
            line += &format!(", for 1 h {cache_write_1h}");
        }
        line + "; USD per million"
    }

    fn fields(&self) -> [(&'static str, String); 5] {
        [
            ("input", self.input.to_string()),
            ("output", self.output.to_string()),
            ("cache_write_5m", self.cache_write_5m.to_string()),
            ("cache_write_1h", self.cache_write_1h.to_string()),
            ("cache_read", self.cache_read.to_string()),
        ]
    }
}

impl PriceEntry {
    /// Writes the entry as TOML for a list of prices, with every setting.
    pub fn to_toml(&self) -> String {
        let text = |text: &str| Value::from(text).to_string();
        let names: Vec<_> = self.names.iter().map(|name| text(name)).collect();
        let mut fields = vec![("names", format!("[{}]", names.join(", ")))];
        fields.extend(self.from.map(|date| ("from", text(&date.to_string()))));
        fields.extend(self.until.map(|date| ("until", text(&date.to_string()))));
        fields.extend([("provider", text(self.provider.name)), ("min_tokens", self.min_tokens.to_string())]);
        fields.extend(self.window.map(|window| ("window", window.to_string())));
        fields.extend(self.price.fields());
        fields.extend(self.large.map(|(above, price)| {
            let prices: Vec<_> = price.fields().iter().map(|(name, value)| format!("{name} = {value}")).collect();
            ("large", format!("{{ above = {above}, {} }}", prices.join(", ")))
        }));
        if !self.factors.is_empty() {
            let factors: Vec<_> = self.factors.iter().map(|(name, factor)| format!("{} = {factor}", text(name))).collect();
            fields.push(("factors", format!("{{ {} }}", factors.join(", "))));
        }
        fields.extend(self.web_searches.map(|price| ("web_searches", price.to_string())));
        fields.extend(self.source.as_deref().map(|source| ("source", text(source))));
        fields.extend(self.date.as_deref().map(|date| ("date", text(date))));
        let lines: String = fields.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
        format!("[[model]]\n{lines}")
    }
}

#[cfg(test)]
mod tests {
    use crate::metrics::prices::Prices;

    #[test]
    fn price_pages_parse_as_the_price_list() {
        let list = Prices::built_in();
        let pages: Vec<_> = list.entries.iter().map(|entry| entry.to_toml()).collect();
        assert_eq!(Prices::parse(&pages.join("\n"), "pages").map(|pages| pages.entries), Ok(list.entries));
    }

    #[test]
    fn price_line_omits_prices_equal_to_input() {
        let list = Prices::built_in();
        let line = |name| list.quote(Some(name), None).price.line();
        let opus = "input 5, output 25, read 0.5, write 6.25, for 1 h 10; USD per million";
        assert_eq!(line("claude-opus-4-5"), opus);
        assert_eq!(line("gpt-5.5"), "input 5, output 30, read 0.5; USD per million");
    }
}
