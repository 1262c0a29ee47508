//! Matches recorded model ids with the names of a price list.
//!
//! A recorded id may contain more than the name: a date (`-20251101`, `-2025-08-07`, `@20250514`), `-latest`, the size of the
//! window (`[1m]`), a route before the last slash (`litellm_proxy/anthropic/`), or Bedrock's region and version
//! (`us.anthropic.…-v1:0`). The rest must be a whole name.

/// Normalises a name so that its spellings are equal: lower case, and `claude-opus-4.5` as `claude-opus-4-5`.
pub fn normalized(name: &str) -> String {
    let name = name.trim().to_lowercase();
    if name.starts_with("claude-") { name.replace('.', "-") } else { name }
}

/// Returns the keys under which an id may be listed, the longest first.
pub fn lookup_keys(id: &str) -> Vec<String> {
    let mut keys = vec![normalized(id)];
    let id = id.trim();
    let id = id.rsplit_once('/').map_or(id, |(_, name)| name);
    let (mut rest, is_bedrock) = match id.rsplit_once("anthropic.") {
        Some((_, name)) => (name, true),
        None => (id, false),
    };
    loop {
        keys.push(normalized(rest));
        let version = || without_version(rest).filter(|_| is_bedrock);
        let Some(shorter) = without_ending(rest).or_else(|| without_date(rest)).or_else(version) else { break };
        rest = shorter;
    }
    keys.dedup();
    keys
}

fn without_ending(id: &str) -> Option<&str> {
    ["[1m]", "[1M]", "-latest"].iter().find_map(|ending| id.strip_suffix(ending))
}

fn without_date(id: &str) -> Option<&str> {
    let (name, day) = id.rsplit_once(['-', '@'])?;
    if is_number(day, 8) {
        return Some(name);
    }
    let (name, month) = name.rsplit_once('-').filter(|_| is_number(day, 2))?;
    let (name, year) = name.rsplit_once('-').filter(|_| is_number(month, 2))?;
    is_number(year, 4).then_some(name)
}

/// Removes Bedrock's `-v1:0` or `-v1`.
fn without_version(id: &str) -> Option<&str> {
    let (name, version) = id.rsplit_once("-v")?;
    version.bytes().all(|byte| byte.is_ascii_digit() || byte == b':').then_some(name)
}

fn is_number(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the name of the provider that the model id clearly belongs to, else `other`.
pub fn provider(id: &str) -> &'static str {
    let id = id.to_lowercase();
    let name = id.rsplit('/').next().unwrap_or_default();
    let has = |part| id.contains(part);
    match () {
        () if has("claude") => "anthropic",
        () if has("gpt-5.6") => "openai-5.6",
        () if has("gpt-5.5") => "openai-5.5",
        () if has("gpt") || ["o1", "o3", "o4"].iter().any(|family| name.starts_with(family)) => "openai",
        () if has("gemini") => "gemini",
        () => "other",
    }
}

#[cfg(test)]
mod tests {
    use crate::metrics::prices::Prices;

    #[test]
    fn recorded_model_id_matches_its_price_name() {
        let list = Prices::built_in();
        for (id, name) in [
            ("claude-opus-4-5", "claude-opus-4-5"),
            ("claude-opus-4-5-20251101", "claude-opus-4-5"),
            ("claude-opus-4-5@20251101", "claude-opus-4-5"),
            ("claude-opus-4-6[1m]", "claude-opus-4-6"),
            ("claude-opus-4-6-latest", "claude-opus-4-6"),
            ("claude-opus-4-1-20250805", "claude-opus-4-1"),
            ("claude-opus-4-20250514", "claude-opus-4"),
            ("Claude-Sonnet-4.5", "claude-sonnet-4-5"),
            ("litellm_proxy/anthropic/claude-sonnet-4-20250514", "claude-sonnet-4"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
            ("bedrock/anthropic.claude-opus-4-6-v1[1m]", "claude-opus-4-6"),
            ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
            ("gpt-5-2025-08-07", "gpt-5"),
            ("openai/gpt-5.1", "gpt-5.1"),
            (" GPT-5.4-mini ", "gpt-5.4-mini"),
            ("models/gemini-2.5-pro", "gemini-2.5-pro"),
            ("deepseek-v4-pro", "deepseek-v4-pro"),
            ("kimi-k2-0905", "kimi-k2-0905"),
        ] {
            assert_eq!(list.quote(Some(id), None).entry.as_deref(), Some(name), "{id}");
        }
    }

    #[test]
    fn model_with_a_known_prefix_only_is_unknown() {
        let unknown = [
            "claude-opus-4-50",
            "claude-opus-4-5-turbo",
            "claude-3-5-epic-20241022",
            "claude-opus",
            "opus",
            "gpt-5.60",
            "gpt-5-cod",
            "gpt-5-1",
            "deepseek-v4",
            "deepseek-v4-pro-v1",
            "claude-opus-4-5/",
            "<synthetic>",
            "-20251101",
            "[1m]",
            "-é-20251101",
            "",
        ];
        for id in unknown {
            assert_eq!(Prices::built_in().quote(Some(id), None).entry, None, "{id}");
        }
    }

    #[test]
    fn longest_matching_model_name_wins() {
        let entry = |name: &str, input| format!("[[model]]\nnames = [\"{name}\"]\ninput = {input}\noutput = 0\ncache_read = 0\n");
        let list = entry("m", 1) + &entry("m-20251101", 2) + &entry("route/m", 3);
        let list = Prices::parse(&list, "list").expect("prices");
        for (id, input) in [("m", 1.0), ("m-20251102", 1.0), ("m-20251101", 2.0), ("route/m", 3.0), ("route/m-20251101", 2.0)] {
            assert_eq!(list.quote(Some(id), None).price.input, input, "{id}");
        }
    }
}
