//! Text templates with named holes, such as `[Previous: used {tool}]`.

/// Replaces every `{name}` that is in `values`. Inserted text is not searched again, so a value may contain braces.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let hole = rest.find('}').and_then(|close| {
            let (_, value) = values.iter().find(|(name, _)| *name == &rest[1..close])?;
            Some((value, close + 1))
        });
        match hole {
            Some((value, end)) => {
                out.push_str(value);
                rest = &rest[end..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Returns whether a template has the hole `{name}`.
pub fn has_placeholder(template: &str, name: &str) -> bool {
    let is_hole = |(at, name): (usize, &str)| template[..at].ends_with('{') && template[at + name.len()..].starts_with('}');
    template.match_indices(name).any(is_hole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_holes_are_filled_once() {
        assert_eq!(fill("[{tool}: {n} of {n}]", &[("tool", "{n}"), ("n", "3")]), "[{n}: 3 of 3]");
        assert_eq!(fill("{unknown} { {n", &[("n", "3")]), "{unknown} { {n");
        let has_n = ["{n}", "n {n}.", "n", "{n", "n}", "{nn}", "{ n}", ""].map(|template| has_placeholder(template, "n"));
        assert_eq!(has_n, [true, true, false, false, false, false, false, false]);
    }
}
