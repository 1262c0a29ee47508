//! Policy files: an accepted policy is the same after it was written and read again.

use recompact::engine::policy::Policy;

pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    // The first line may be a setting of `--set`.
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let settings: Vec<_> = first.strip_prefix("# --set ").and_then(|setting| setting.parse().ok()).into_iter().collect();
    let _ = Policy::parse(rest, "fuzz", &settings);
    let Ok(policy) = Policy::parse(&text, "fuzz", &[]) else { return };
    let written = policy.to_toml();
    let again = Policy::parse(&written, "fuzz", &[]).unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(written, again.to_toml());
}
