//! Builds configurations from spaces: a grid, or a sample of it.

use std::collections::{BTreeSet, HashMap};

use crate::engine::layer::Layer;
use crate::engine::policy::{Policy, PolicyError, Setting};
use crate::results::saved::ParameterRow;

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

impl Candidate {
    /// A policy as it is.
    pub(super) fn original(policy: Policy) -> Self {
        Self { original: policy.name.clone(), policy, settings: Vec::new(), is_original: true }
    }
}

/// Index of a candidate among all candidates of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CandidateId(pub usize);

/// For each parameter of a space the index of one of its values.
pub type Choice = Vec<u64>;

/// A space, and what is tried of it.
#[derive(Debug)]
pub struct TriedSpace {
    pub space: Space,
    pub points: Vec<Point>,
}

/// One choice of values for the parameters of a space; several points may give the same policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub choice: Choice,
    pub candidate: CandidateId,
}

impl TriedSpace {
    /// Returns the parameters with those of their values that are tried.
    pub fn parameter_rows(&self) -> Vec<ParameterRow> {
        self.space.rows(|parameter| self.values_of(parameter))
    }

    fn values_of(&self, parameter: usize) -> BTreeSet<u64> {
        self.points.iter().map(|point| point.choice[parameter]).collect()
    }
}

/// Returns the choices to try of each space: all of them, or `sample` of them.
///
/// A sample is divided evenly among the policies, whatever the sizes of their spaces, because the choice of the policy is a
/// part of the question. What a small space cannot use goes to the others.
fn choose(spaces: &[Space], sample: Option<usize>, seed: u64) -> Result<Vec<Vec<Choice>>, SweepError> {
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
    Ok(spaces.iter().zip(shares).map(|(space, share)| choices(space, share, seed)).collect())
}

/// Returns this number of choices of a space, which has at least as many.
fn choices(space: &Space, count: u64, seed: u64) -> Vec<Choice> {
    if count == space.size() {
        return grid(&space.counts());
    }
    sobol::choices(&space.counts(), usize::try_from(count).unwrap_or(usize::MAX), seed)
}

/// Returns every choice; the last parameter varies fastest.
fn grid(counts: &[u64]) -> Vec<Choice> {
    counts.iter().fold(vec![Vec::new()], |grid, count| {
        grid.iter().flat_map(|begin| (0..*count).map(move |at| [&begin[..], &[at]].concat())).collect()
    })
}

/// Returns the original policies, then the policies of the points, and the points of each space. Policies with the same behaviour are
/// one candidate; no candidate has the name of the baseline.
pub fn candidates(
    spaces: Vec<Space>,
    baseline: &str,
    sample: Option<usize>,
    seed: u64,
) -> Result<(Vec<Candidate>, Vec<TriedSpace>), SweepError> {
    let choices = choose(&spaces, sample, seed)?;
    let mut candidates: Vec<Candidate> = spaces.iter().map(|space| Candidate::original(space.plain().clone())).collect();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        known.entry(behaviour_key(&candidate.policy)).or_insert(at);
    }
    let mut tried = Vec::new();
    for (space, choices) in spaces.into_iter().zip(choices) {
        let mut changes = Changes::new(&space);
        let mut points = Vec::new();
        for choice in choices {
            let built = space.candidate(&mut changes, &choice)?;
            let at = *known.entry(behaviour_key(&built.policy)).or_insert(candidates.len());
            match candidates.get_mut(at) {
                None => candidates.push(built),
                Some(original) if original.is_original && original.settings.is_empty() => original.settings = built.settings,
                Some(_) => {}
            }
            points.push(Point { choice, candidate: CandidateId(at) });
        }
        tried.push(TriedSpace { space, points });
    }
    // A user's policy may already have the name of another policy's configuration.
    let is_taken = |name: &str| name == baseline || tried.iter().any(|tried| tried.space.policy_name() == name);
    for candidate in &mut candidates[tried.len()..] {
        while is_taken(&candidate.policy.name) {
            candidate.policy.name.push('+');
        }
    }
    Ok((candidates, tried))
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

    fn made(texts: &[&str], set: &[&str], sample: Option<usize>) -> Result<(Vec<Candidate>, Vec<Vec<Point>>), SweepError> {
        let source = |text: &&str| PolicySource { origin: "p.toml".to_owned(), text: (*text).to_owned() };
        let parameters: Vec<Parameter> = set.iter().map(|set| set.parse().expect(set)).collect();
        let spaces = spaces(&texts.iter().map(source).collect::<Vec<_>>(), &parameters)?;
        let (candidates, tried) = candidates(spaces, "small micro.keep_recent=2", sample, 1)?;
        Ok((candidates, tried.into_iter().map(|tried| tried.points).collect()))
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
        assert_eq!(points[0].iter().map(|point| point.candidate.0).collect::<Vec<_>>(), [1, 2, 3, 0]);
        assert_eq!(candidates[1].policy.about, "small with micro.keep_recent=2, auto.threshold=40k");
    }

    #[test]
    fn candidates_have_only_parameters_of_their_policy() {
        let set = ["micro.keep_recent=1,2", "auto.threshold=1k..3k:1k", "micro.min_chars=0"];
        let (candidates, points) = made(&[SMALL, OTHER], &set, None).expect("two spaces");
        assert_eq!(points.iter().map(Vec::len).collect::<Vec<_>>(), [6, 2]);
        assert_eq!(candidates.len(), 2 + 6 + 2);
        assert!(candidates.iter().filter(|c| !c.is_original).all(|c| c.policy.to_toml().contains("min_chars = 0")));
        assert_eq!(candidates[9].settings, [("micro.keep_recent".to_owned(), "2".to_owned())]);
    }

    #[test]
    fn equivalent_candidates_are_tried_once() {
        let (candidates, points) = made(&[SMALL], &["micro.enabled=true,false", "micro.keep_recent=1..5"], None).expect("a grid");
        assert_eq!((points[0].len(), candidates.len()), (10, 1 + 4 + 1), "without the layer its setting is nothing");
    }

    #[test]
    fn sample_is_divided_evenly_among_policies() {
        let set = ["micro.keep_recent=1..3", "auto.threshold=1..1000000"];
        let (_, points) = made(&[SMALL, OTHER], &set, Some(40)).expect("a sample");
        assert_eq!((points[0].len(), points[1].len()), (37, 3), "the small space is tried whole, the rest is the other's");
        assert_eq!(made(&[OTHER], &set[..1], Some(40)).expect("all").1[0].len(), 3);
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
        let both = error(&[SMALL], &["auto.input.rides_prefix=true,false", "auto.input.chars=10,20"], None);
        let begin = "p.toml --set auto.input.rides_prefix=true --set auto.input.chars=10: layer `auto`: a summarizer that reads the cached";
        assert!(both.starts_with(begin), "{both}");
    }

    #[test]
    fn candidate_may_not_have_the_name_of_a_role() {
        let message = error(&[&OTHER.replace("other", "keep-all")], &["micro.keep_recent=1,2"], None);
        assert_eq!(message, "p.toml: `keep-all` is the name of a bound: a policy that does something else needs another name");
        let message = error(&[&OTHER.replace("other", "recorded")], &["micro.keep_recent=1,2"], None);
        assert_eq!(
            message,
            "p.toml: `recorded` is the name of the recorded session: a policy that does something else needs another name"
        );
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
