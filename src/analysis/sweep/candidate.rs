//! Builds configurations from spaces: a grid, or a sample of it.

use std::collections::HashMap;

use crate::engine::layer::Layer;
use crate::engine::policy::{Policy, PolicyError, Setting};

use super::SweepError;
use super::sobol;
use super::space::Space;

/// Maximum number of configurations: more do not finish in a working day, and their policies alone need a gigabyte.
pub const MOST: u64 = 20_000;

/// A configuration to try: a complete policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its name is the name of the original policy and the settings that differ from it: `lcc-s08 micro.keep_recent_results=5`.
    pub policy: Policy,
    /// Name of the original policy.
    pub original: String,
    /// Varied settings by parameter, as `--set` takes them. Empty for the original policy, unless a point of the grid equals
    /// it.
    pub settings: Vec<(String, String)>,
    /// This is the original policy, unchanged.
    pub is_original: bool,
}

/// One choice of values for the parameters of one space; several points may give the same policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Index of the space.
    pub space: usize,
    /// Index of the value of each of its parameters.
    pub choice: Vec<u64>,
    /// Index of the candidate.
    pub candidate: usize,
}

/// Returns the points to try: all of them, or `sample` of them.
///
/// A sample is divided evenly among the policies, whatever the sizes of their spaces, because the choice of the policy is a
/// part of the question. What a small space cannot use goes to the others.
fn choose_points(spaces: &[Space], sample: Option<usize>, seed: u64) -> Result<Vec<(usize, Vec<u64>)>, SweepError> {
    let sizes: Vec<u64> = spaces.iter().map(Space::size).collect();
    let all = sizes.iter().copied().fold(0, u64::saturating_add);
    let wanted = sample.map_or(all, |sample| (sample as u64).min(all));
    if wanted > MOST {
        let largest = spaces.iter().flat_map(Space::parameters).max_by_key(|parameter| parameter.values.count());
        let largest = largest.map_or(String::new(), |parameter| {
            format!(" ({} alone has {} values; a step makes fewer: `20k..120k:20k`)", parameter.name, parameter.values.count())
        });
        let count = if all == u64::MAX { "more than can be counted".to_owned() } else { wanted.to_string() };
        return Err(SweepError::Wrong(format!(
            "{count} configurations are more than the {MOST} that can be swept{largest}; --sample N tries N of them"
        )));
    }
    let mut shares = vec![0; spaces.len()];
    let mut by_size: Vec<usize> = (0..spaces.len()).collect();
    by_size.sort_by_key(|at| (sizes[*at], *at));
    let mut left = wanted;
    for (done, at) in by_size.into_iter().enumerate() {
        shares[at] = sizes[at].min(left.div_ceil((spaces.len() - done) as u64));
        left -= shares[at];
    }
    let points_of = |(at, space): (usize, &Space)| {
        let choices = if shares[at] == sizes[at] {
            grid(&space.counts())
        } else {
            sobol::choices(&space.counts(), usize::try_from(shares[at]).unwrap_or(usize::MAX), seed)
        };
        choices.into_iter().map(move |choice| (at, choice)).collect::<Vec<_>>()
    };
    Ok(spaces.iter().enumerate().flat_map(points_of).collect())
}

/// Returns every choice; the last parameter varies fastest.
fn grid(counts: &[u64]) -> Vec<Vec<u64>> {
    counts.iter().fold(vec![Vec::new()], |grid, count| {
        grid.iter().flat_map(|begin| (0..*count).map(move |at| [&begin[..], &[at]].concat())).collect()
    })
}

/// Returns the original policies, then the policies of the points. Policies with the same behaviour are one candidate; no
/// candidate has the name of the baseline.
pub fn candidates(
    spaces: &[Space],
    baseline: &str,
    sample: Option<usize>,
    seed: u64,
) -> Result<(Vec<Candidate>, Vec<Point>), SweepError> {
    let plain = |space: &Space| Candidate {
        policy: space.plain().clone(),
        original: space.policy_name().to_owned(),
        settings: Vec::new(),
        is_original: true,
    };
    let mut candidates: Vec<Candidate> = spaces.iter().map(plain).collect();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        known.entry(behaviour_key(&candidate.policy)).or_insert(at);
    }
    let mut points = Vec::new();
    let mut changes: Vec<Changes> = spaces.iter().map(Changes::new).collect();
    for (space, choice) in choose_points(spaces, sample, seed)? {
        let built = spaces[space].candidate(&mut changes[space], &choice)?;
        let candidate = *known.entry(behaviour_key(&built.policy)).or_insert(candidates.len());
        if candidate == candidates.len() {
            candidates.push(built);
        } else if candidates[candidate].is_original && candidates[candidate].settings.is_empty() {
            candidates[candidate].settings = built.settings;
        }
        points.push(Point { space, choice, candidate });
    }
    // A user's policy may already have the name of another policy's configuration.
    for candidate in &mut candidates[spaces.len()..] {
        while candidate.policy.name == baseline || spaces.iter().any(|space| space.policy_name() == candidate.policy.name) {
            candidate.policy.name.push('+');
        }
    }
    Ok((candidates, points))
}

/// Returns a key of everything in a policy that affects a replay. Leaves out names, remarks, and disabled layers.
fn behaviour_key(policy: &Policy) -> String {
    let Policy { meter, window, max_output, cache, layers, .. } = policy;
    let enabled: Vec<&Layer> = layers.iter().filter(|layer| layer.enabled).collect();
    format!("{meter:?} {window:?} {max_output} {cache:?} {enabled:?}")
}

/// Which values change a policy: a value that it has anyway is not part of a name.
struct Changes {
    /// The behaviour of the policy as it is.
    plain: String,
    /// By index of the parameter and index of the value.
    known: HashMap<(usize, u64), bool>,
}

impl Changes {
    fn new(space: &Space) -> Self {
        Self { plain: behaviour_key(space.plain()), known: HashMap::new() }
    }

    /// Returns the settings that are part of a name, each after a space: ` micro.keep_recent_results=5`. Empty if none changes the policy.
    fn label(&mut self, space: &Space, choice: &[u64]) -> Result<String, SweepError> {
        let mut label = space.fixed.iter().map(|setting| format!(" {}", unspaced(&setting.written))).collect::<String>();
        for (at, (parameter, value)) in space.parameters().iter().zip(choice).enumerate() {
            let setting = parameter.setting(*value)?;
            let is_change = match self.known.get(&(at, *value)) {
                Some(known) => *known,
                None => {
                    // A setting that is not valid alone is a change.
                    let alone = space.source.policy(std::slice::from_ref(&setting));
                    let is_change = alone.map_or(true, |policy| behaviour_key(&policy) != self.plain);
                    self.known.insert((at, *value), is_change);
                    is_change
                }
            };
            if is_change {
                label += &format!(" {}", unspaced(&setting.written));
            }
        }
        Ok(label)
    }
}

/// A setting in one word: `auto.threshold=0.8*window`.
fn unspaced(written: &str) -> String {
    written.split_whitespace().collect()
}

impl Space {
    fn settings(&self, choice: &[u64]) -> Vec<(String, String)> {
        self.parameters().iter().zip(choice).map(|(parameter, at)| (parameter.name.clone(), parameter.values.at(*at))).collect()
    }

    fn candidate(&self, changes: &mut Changes, choice: &[u64]) -> Result<Candidate, SweepError> {
        let chosen: Result<Vec<Setting>, _> = self.parameters().iter().zip(choice).map(|(p, at)| p.setting(*at)).collect();
        let settings = [self.fixed.clone(), chosen?].concat();
        let policy = self.source.policy(&settings).map_err(|error| {
            // Each value is valid alone, so the combination is the problem.
            let written: Vec<_> = settings.iter().map(|setting| format!("--set {}", setting.written)).collect();
            PolicyError { origin: format!("{} {}", self.source.origin, written.join(" ")), line: None, what: error.what }
        })?;
        let written: Vec<_> = settings.iter().map(|setting| setting.written.as_str()).collect();
        let about = format!("{} with {}", self.policy_name(), written.join(", "));
        let name = format!("{}{}", self.policy_name(), changes.label(self, choice)?);
        // Quirks are reported once, with the original policy, which is in every comparison.
        let policy = Policy { name, about, quirks: Vec::new(), ..policy };
        Ok(Candidate { policy, original: self.policy_name().to_owned(), settings: self.settings(choice), is_original: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::spec::PolicySource;
    use crate::analysis::sweep::parameter::Parameter;
    use crate::analysis::sweep::space::spaces;
    use crate::engine::policy::preset;
    use std::collections::BTreeSet;

    const SMALL: &str = "name = \"small\"\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\nkeep_recent = 3\n\
        [[layer]]\nid = \"auto\"\ndo = \"summarize\"\nmeter = \"chars/4\"\nthreshold = 50000\n";
    const OTHER: &str = "name = \"other\"\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\nkeep_recent = 5\n";

    fn made(texts: &[&str], set: &[&str], sample: Option<usize>) -> Result<(Vec<Candidate>, Vec<Point>), SweepError> {
        let source = |text: &&str| PolicySource { origin: "p.toml".to_owned(), text: (*text).to_owned() };
        let parameters: Vec<Parameter> = set.iter().map(|set| set.parse().expect(set)).collect();
        let spaces = spaces(&texts.iter().map(source).collect::<Vec<_>>(), &parameters)?;
        candidates(&spaces, "small micro.keep_recent=2", sample, 1)
    }

    fn error(texts: &[&str], set: &[&str], sample: Option<usize>) -> String {
        made(texts, set, sample).expect_err("wrong").to_string()
    }

    fn names(candidates: &[Candidate]) -> Vec<(&str, String)> {
        let settings = |c: &Candidate| c.settings.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>().join(" ");
        candidates.iter().map(|candidate| (candidate.policy.name.as_str(), settings(candidate))).collect()
    }

    #[test]
    fn grid_is_the_product_with_the_unchanged_policy_first() {
        let (candidates, points) = made(&[SMALL], &["micro.keep_recent=2..3", "auto.threshold=40k,50k"], None).expect("a grid");
        // The fourth point, 3 and 50k, equals the original policy.
        let expected = [
            ("small", "3 50k"),
            ("small micro.keep_recent=2 auto.threshold=40k", "2 40k"),
            ("small micro.keep_recent=2+", "2 50k"),
            ("small auto.threshold=40k", "3 40k"),
        ];
        assert_eq!(names(&candidates), expected.map(|(name, settings)| (name, settings.to_owned())));
        assert_eq!(points.iter().map(|point| point.candidate).collect::<Vec<_>>(), [1, 2, 3, 0]);
        assert_eq!(candidates[1].policy.about, "small with micro.keep_recent=2, auto.threshold=40k");
    }

    #[test]
    fn candidates_have_only_parameters_of_their_policy() {
        let set = ["micro.keep_recent=1,2", "auto.threshold=1k..3k:1k", "micro.min_chars=0"];
        let (candidates, points) = made(&[SMALL, OTHER], &set, None).expect("two spaces");
        assert_eq!(points.len(), 6 + 2);
        assert_eq!(candidates.len(), 2 + 6 + 2);
        assert!(candidates.iter().filter(|c| !c.is_original).all(|c| c.policy.to_toml().contains("min_chars = 0")));
        assert_eq!(candidates[9].settings, [("micro.keep_recent".to_owned(), "2".to_owned())]);
    }

    #[test]
    fn equivalent_candidates_are_tried_once() {
        let (candidates, points) = made(&[SMALL], &["micro.enabled=true,false", "micro.keep_recent=1..5"], None).expect("a grid");
        assert_eq!((points.len(), candidates.len()), (10, 1 + 4 + 1), "without the layer its setting is nothing");
    }

    #[test]
    fn sample_is_divided_evenly_among_policies() {
        let set = ["micro.keep_recent=1..3", "auto.threshold=1..1000000"];
        let (_, points) = made(&[SMALL, OTHER], &set, Some(40)).expect("a sample");
        let count = |space: usize| points.iter().filter(|point| point.space == space).count();
        assert_eq!((count(0), count(1)), (37, 3), "the small space is tried whole, the rest is the other's");
        assert_eq!(made(&[OTHER], &set[..1], Some(40)).expect("all").1.len(), 3);
    }

    #[test]
    fn candidate_errors_name_setting_and_value() {
        let set = |set: &str| error(&[SMALL], &[set], None);
        assert!(set("micro.keep_recent=1,many").starts_with("--set micro.keep_recent=many: layer `micro`: "));
        assert!(set("micro.keep_recnt=1,2").starts_with("--set micro.keep_recnt=1: layer `micro`: `clear` has no setting"));
        let unknown = "--set macro.keep_recent: no policy here has a layer `macro`; did you mean `micro`? (known: auto, micro)";
        assert_eq!(set("macro.keep_recent=1,2"), unknown);
        assert_eq!(
            set("micro.keep_recent=1"),
            "nothing is varied: give a setting several values, as in `--set micro.keep_recent_results=1..10`"
        );
        assert_eq!(
            error(&[SMALL], &["micro.keep_recent=1,2", "micro.keep_recent=3"], None),
            "--set micro.keep_recent: given twice; list its values: `1,2,3`"
        );
        assert_eq!(error(&[SMALL, SMALL], &["micro.keep_recent=1,2"], None), "the policy `small` is named twice");
        assert_eq!(
            set("auto.threshold=20k..120k"),
            "100001 configurations are more than the 20000 that can be swept (auto.threshold alone has 100001 values; a step \
             makes fewer: `20k..120k:20k`); --sample N tries N of them"
        );
        assert!(error(&[SMALL], &["auto.threshold=20k..120k"], Some(50_000)).starts_with("50000 configurations are more than"));
        let both = error(&[SMALL], &["auto.rides_prefix=true,false", "auto.input_chars=10,20"], None);
        let begin =
            "p.toml --set auto.rides_prefix=true --set auto.input_chars=10: layer `auto`: a summarizer that reads the cached";
        assert!(both.starts_with(begin), "{both}");
    }

    #[test]
    fn candidate_may_not_have_the_name_of_a_bound() {
        let message = error(&[&OTHER.replace("other", "keep-all")], &["micro.keep_recent=1,2"], None);
        assert_eq!(message, "p.toml: `keep-all` is the name of a bound: a policy that does something else needs another name");
        let copied = preset("keep-all").expect("a preset").toml;
        assert!(made(&[SMALL, copied], &["micro.keep_recent=1,2"], None).is_ok());
    }

    #[test]
    fn candidate_names_are_unique() {
        let taken = OTHER.replace("other", "small-1");
        let (candidates, _) = made(&[SMALL, &taken], &["micro.keep_recent=1,2"], None).expect("two spaces");
        let names: BTreeSet<&str> = candidates.iter().map(|candidate| candidate.policy.name.as_str()).collect();
        assert_eq!(names.len(), candidates.len());
    }
}
