//! Turns a spec into a study: reads its files, checks its values, connects its models.

use serde_json::Map;

use super::policies::source_of;
use super::prices::{LoadedPrices, load_prices};
use super::record::{hash_of_files, record};
use super::{ModelRequest, Resources, StudySpec};
use crate::analysis::study::{NamedSummarizer, Study, expand_variants, with_bounds};
use crate::engine::policy::{KEEP_ALL, Policy, RECORDED};
use crate::engine::summarizer;
use crate::llm::client::Address;
use crate::metrics::prices::Prices;
use crate::results::Role;
use crate::results::saved::StudyRecord;
use crate::util::ValueError;
use crate::util::toml_span::FileError;

/// Reference summarizers that models are compared with: the default, and one whose summaries have a usual size but say
/// nothing.
const REFERENCES: [&str; 2] = ["extract", "stub:500"];

/// Maximum of [`StudySpec::replicates`]: more samples of a summary cost money and tell nothing new.
const MAX_REPLICATES: u32 = 100;

/// A spec with the files and models that it names.
pub struct Loaded {
    pub study: Study,
    /// The policies that the spec names, once per summarizer: the study's without the baseline and the bounds.
    pub policies: Vec<Policy>,
    /// What saved results say about the study.
    pub record: StudyRecord,
}

/// Which field of a spec is wrong, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct SpecError {
    /// Name of the field, as in a suite file.
    pub field: &'static str,
    /// Index in the list that the field holds.
    pub item: Option<usize>,
    pub error: SpecErrorKind,
}

/// Why a field of a spec is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecErrorKind {
    /// A file that the field names is wrong.
    #[error(transparent)]
    File(FileError),
    #[error("{0}")]
    Value(String),
}

impl SpecError {
    pub(super) fn file(field: &'static str, error: FileError) -> Self {
        Self { field, item: None, error: SpecErrorKind::File(error) }
    }

    pub(in crate::analysis) fn value(field: &'static str, what: impl Into<String>) -> Self {
        Self { field, item: None, error: SpecErrorKind::Value(what.into()) }
    }

    pub(super) fn at(self, item: usize) -> Self {
        Self { item: Some(item), ..self }
    }
}

impl StudySpec {
    /// Reads the files, connects the models, and checks all values.
    ///
    /// # Errors
    ///
    /// Fails on the first field that is wrong: a policy that does not exist, a setting that fits no policy, a price list with a
    /// misspelt key, a model that cannot be asked.
    pub fn load(&self, resources: &dyn Resources) -> Result<Loaded, SpecError> {
        self.check()?;
        let sources = self.sources(resources)?;
        let policies = self.with_settings(&sources)?;
        let LoadedPrices { prices, priced_as, text } = load_prices(self.prices.as_deref(), resources)?;
        let summarizers = self.load_summarizers(resources, &prices)?;
        let (mut replayed, mut references) = (policies.clone(), Vec::new());
        if self.bounds {
            let is_missing = replayed.iter().all(|policy| Role::of(&policy.name) != Role::Recorded);
            // A verdict compares with what was recorded. Summarizers are compared with its summaries.
            if is_missing && (summarizers.len() > 1 || self.sweep.is_none() && self.baseline == KEEP_ALL) {
                replayed.push(Policy::recorded());
                references.push(RECORDED.to_owned());
            }
            replayed = with_bounds(replayed);
        }
        let mut replayed = expand_variants(replayed, &summarizers);
        let (baseline, baseline_text) = self.load_baseline(resources, &mut replayed, &summarizers)?;
        let external = self.programs(&replayed, resources)?;
        let texts = sources.iter().map(|source| source.text.as_str()).chain(baseline_text.as_deref()).chain(text.as_deref());
        let record = record(self, hash_of_files(texts));
        let policies = expand_variants(policies, &summarizers);
        let study = Study {
            references,
            baseline,
            counter: self.tokenizer,
            window: self.window,
            overhead: self.overhead.map(u64::from),
            thinking: self.thinking,
            summarizers,
            external,
            misses: self.misses,
            exact: self.exact,
            prices,
            priced_as,
            cache: self.cache,
            max_residual: self.max_residual,
            breaks: self.breaks,
            findings: self.findings,
            show_secrets: self.show_secrets,
            seed: self.seed,
            ..Study::new(replayed)
        };
        Ok(Loaded { study, policies, record })
    }

    /// Checks the values that need no file.
    fn check(&self) -> Result<(), SpecError> {
        if self.policies.is_empty() {
            return Err(SpecError::value("policies", "name at least one policy".to_owned()));
        }
        if !(1..=MAX_REPLICATES).contains(&self.replicates) {
            return Err(SpecError::value("replicates", format!("`replicates` is a number from 1 to {MAX_REPLICATES}")));
        }
        if self.max_residual.is_nan() || self.max_residual < 0.0 {
            return Err(SpecError::value("max_residual", "max_residual: write a share, such as 0.15 for 15 %".to_owned()));
        }
        let error_in = |field: &'static str| move |what: ValueError| SpecError::value(field, format!("{field}: {what}"));
        self.read.known_format().map_err(error_in("format"))?;
        self.read.max_bytes().map_err(error_in("max_file"))?;
        if self.exact && !cfg!(feature = "exact") {
            let what = "this program was built without the solver that --exact needs: the feature `exact`";
            return Err(SpecError::value("exact", what.to_owned()));
        }
        Ok(())
    }

    /// Returns the summarizers, each model once per replicate.
    fn load_summarizers(&self, resources: &dyn Resources, prices: &Prices) -> Result<Vec<NamedSummarizer>, SpecError> {
        let params: Map<_, _> = self.param.clone().into_iter().collect();
        let mut summarizers: Vec<NamedSummarizer> = Vec::new();
        for (item, written) in self.summarizer.iter().enumerate() {
            let error = |what: String| SpecError::value("summarizer", what).at(item);
            let Some(address) = Address::parse(written) else {
                summarizers.push(without_model(written).map_err(|what| error(what.into()))?);
                continue;
            };
            let address = &address.map_err(|what| error(what.into()))?;
            for replicate in 1..=self.replicates {
                let summarizer = resources.model(&ModelRequest { address, replicate, params: &params, prices });
                let summarizer = summarizer.map_err(|what| error(what.into()))?;
                let replicate = (self.replicates > 1).then_some(replicate);
                summarizers.push(NamedSummarizer { name: address.name(), replicate, summarizer });
            }
        }
        let is_twice = |(index, one): (usize, &NamedSummarizer)| summarizers[..index].iter().any(|other| other.is_called_as(one));
        if let Some((_, twice)) = summarizers.iter().enumerate().find(|pair| is_twice(*pair)) {
            return Err(SpecError::value("summarizer", format!("the summarizer `{}` is named twice", twice.name)));
        }
        let references = if self.references { &REFERENCES[..] } else { &REFERENCES[..usize::from(summarizers.is_empty())] };
        for reference in references {
            if !summarizers.iter().any(|known| known.name == *reference) {
                summarizers.push(without_model(reference).map_err(|what| SpecError::value("references", what))?);
            }
        }
        Ok(summarizers)
    }

    /// Returns the baseline, and its text if it is read from a file. It is added to the policies if it is not among them.
    fn load_baseline(
        &self,
        resources: &dyn Resources,
        policies: &mut Vec<Policy>,
        summarizers: &[NamedSummarizer],
    ) -> Result<(Policy, Option<String>), SpecError> {
        let named = |name: &str| policies.iter().find(|policy| policy.name == name).cloned();
        if let Some(known) = named(&self.baseline) {
            return Ok((known, None));
        }
        let wrong = |what: String| Err(SpecError::value("baseline", format!("--baseline {}: {what}", self.baseline)));
        let file_error = |error| SpecError::file("baseline", error);
        let source = source_of(&self.baseline, resources).map_err(file_error)?;
        let baseline = source.policy(&[]).map_err(file_error)?;
        if summarizers.len() > 1 && baseline.summarizes() {
            let variants = expand_variants(vec![baseline], summarizers);
            let names: Vec<_> = variants.iter().map(|variant| variant.name.as_str()).collect();
            return wrong(format!("several summarizers are compared; name one of its variants: {}", names.join(", ")));
        }
        match named(&baseline.name) {
            Some(known) if known.to_toml() == baseline.to_toml() => Ok((known, Some(source.text))),
            Some(_) => wrong(format!("another policy is named `{}` too", baseline.name)),
            None => {
                policies.push(baseline.clone());
                Ok((baseline, Some(source.text)))
            }
        }
    }
}

/// Returns a summarizer that calls no model.
fn without_model(written: &str) -> Result<NamedSummarizer, ValueError> {
    Ok(NamedSummarizer { name: written.to_owned(), replicate: None, summarizer: summarizer::by_name(written)? })
}
