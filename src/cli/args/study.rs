//! Options of every study: which policies, which baseline, how tokens are counted and priced.

use std::path::Path;

use clap::{Args, ValueEnum};
use recompact::analysis::study::{MAX_RESIDUAL, Study, TokenCounter, expand_variants};
use recompact::analysis::sweep::Source;
use recompact::engine::policy::{PRESETS, Policy, PolicyError, Setting, preset, unknown_layer_message};
use recompact::metrics::prompt_cache::CacheMode;
use recompact::results::stats::SEED;
use recompact::transcript::conversation::Thinking;
use recompact::util::text::did_you_mean;

use crate::cli::args::pricing::PricingArgs;
use crate::cli::args::summarizers::{DryRunPlan, SummarizerArgs};
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::resume::Fingerprint;
use crate::cli::source::read_settings;

#[derive(Args)]
pub struct StudyArgs {
    /// Policy to replay: a preset (see `recompact catalog policies`) or a TOML file; repeatable
    #[arg(short, long = "policy", value_name = "POLICY", required = true)]
    policies: Vec<String>,
    /// Policy that tokens.saved and cost.ratio compare with
    #[arg(long, value_name = "POLICY", default_value = "keep-all")]
    baseline: String,
    #[command(flatten)]
    summarizers: SummarizerArgs,
    /// Context window in tokens [default: the transcript's, else the policy's, else 200000]
    #[arg(long, value_name = "TOKENS")]
    window: Option<u64>,
    /// Tokens of the system prompt and tools in every request [default: from the first recorded usage]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(..=u64::from(u32::MAX)))]
    overhead: Option<u64>,
    /// Token counter: own (each model's own tokenizer: o200k, or calibrated on recorded usage if its tokenizer is not
    /// public, as Claude's), recorded (calibrated for every model), o200k, cl100k, or an estimate such as chars/4
    /// (see `recompact catalog meters`)
    #[arg(long, value_name = "NAME", default_value = "own")]
    tokenizer: TokenCounter,
    /// How long thinking is sent again [default: as the format's provider does]
    #[arg(long, value_enum)]
    thinking: Option<ThinkingFor>,
    /// Prompt cache of the replays: as the record shows it, with its evictions and other events, or as the provider's rules
    /// describe it
    #[arg(long, value_enum, default_value = "recorded")]
    cache: CacheArg,
    /// Do not price a conversation whose simulated cost differs from the bill by more than this share
    #[arg(long, value_name = "SHARE", default_value_t = MAX_RESIDUAL, value_parser = share)]
    max_residual: f64,
    /// Random seed for bootstrap intervals, sweep samples and the hold-out split
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,
    #[command(flatten)]
    pricing: PricingArgs,
}

fn share(written: &str) -> Result<f64, String> {
    let share = written.parse().ok().filter(|share: &f64| *share >= 0.0);
    share.ok_or_else(|| "write a share, such as 0.15 for 15 %".to_owned())
}

#[derive(Clone, Copy, ValueEnum)]
enum ThinkingFor {
    /// Until the user's next message
    Turn,
    /// Always
    All,
    /// Never
    None,
}

#[derive(Clone, Copy, ValueEnum)]
enum CacheArg {
    /// What happened to the recorded session's cache happens to every policy
    Recorded,
    /// By the rules of the provider
    Ideal,
}

impl StudyArgs {
    /// The sources of the given policies, not parsed yet.
    pub fn sources(&self) -> Result<Vec<Source>, Failure> {
        self.policies.iter().map(|name| load_source(name)).collect()
    }

    /// Parses the given policies. A setting must fit at least one policy, and is applied to those it fits.
    pub fn policies(&self, settings: &[Setting]) -> Result<Vec<Policy>, Failure> {
        let mut policies = Vec::new();
        for source in self.sources()? {
            let unchanged = source.policy(&[])?;
            let fits = |setting: &&Setting| unchanged.has_layer(setting.layer.as_deref());
            let fitting: Vec<_> = settings.iter().filter(fits).cloned().collect();
            let policy = source.policy(&fitting)?;
            if policies.iter().any(|known: &Policy| known.name == policy.name) {
                return Err(Failure::Usage(format!("the policy `{}` is named twice", policy.name)));
            }
            policies.push(policy);
        }
        let all: Vec<&Policy> = policies.iter().collect();
        let unused = |setting: &Setting| unknown_layer_message(&setting.written, setting.layer.as_deref(), &all);
        match settings.iter().find_map(unused) {
            Some(message) => Err(Failure::Usage(message)),
            None => Ok(policies),
        }
    }

    /// Adds the files that these options name.
    pub fn add_to(&self, uses: &mut FileUses) {
        for name in self.policies.iter().filter(|name| preset(name).is_none()) {
            uses.read("--policy", name);
        }
        if preset(&self.baseline).is_none() {
            uses.read("--baseline", &self.baseline);
        }
        self.pricing.add_to(uses);
        self.summarizers.models().add_to(uses);
    }

    /// The summarizer options.
    pub fn summarizers(&self) -> &SummarizerArgs {
        &self.summarizers
    }

    /// Disables the comparison of summarizers, so that policy names get no suffix.
    pub fn without_comparison(mut self) -> Self {
        self.summarizers.no_comparison = true;
        self
    }

    /// Returns a study of these policies, each once per summarizer. The baseline is appended if it is not among them.
    pub fn study(&self, policies: Vec<Policy>, plan: Option<&mut DryRunPlan>) -> Result<Study, Failure> {
        let (prices, priced_as) = self.pricing.load()?;
        let writers = self.summarizers.all(&prices, plan)?;
        let mut policies = expand_variants(policies, &writers);
        let named = |name: &str| policies.iter().position(|policy| policy.name == name);
        let baseline = match named(&self.baseline) {
            Some(index) => policies[index].clone(),
            None => {
                let baseline = load_source(&self.baseline)?.policy(&[])?;
                if self.summarizers.compares() && baseline.summarizes() {
                    let variants = expand_variants(vec![baseline], &writers);
                    let names: Vec<_> = variants.iter().map(|variant| variant.name.as_str()).collect();
                    let message = format!(
                        "--baseline {}: several summarizers are compared; name one of its variants: {}",
                        self.baseline,
                        names.join(", ")
                    );
                    return Err(Failure::Usage(message));
                }
                match named(&baseline.name) {
                    Some(index) if policies[index].to_toml() == baseline.to_toml() => policies[index].clone(),
                    Some(_) => {
                        let message = format!("--baseline {}: another policy is named `{}` too", self.baseline, baseline.name);
                        return Err(Failure::Usage(message));
                    }
                    None => {
                        policies.push(baseline.clone());
                        baseline
                    }
                }
            }
        };
        Ok(Study {
            baseline,
            counter: self.tokenizer,
            window: self.window,
            overhead: self.overhead,
            thinking: self.thinking(),
            summarizers: writers,
            cache: self.cache(),
            max_residual: self.max_residual,
            seed: self.seed,
            prices,
            priced_as,
            ..Study::new(policies)
        })
    }

    fn cache(&self) -> CacheMode {
        match self.cache {
            CacheArg::Recorded => CacheMode::Recorded,
            CacheArg::Ideal => CacheMode::Ideal,
        }
    }

    fn thinking(&self) -> Option<Thinking> {
        self.thinking.map(|thinking| match thinking {
            ThinkingFor::Turn => Thinking::Turn,
            ThinkingFor::All => Thinking::All,
            ThinkingFor::None => Thinking::None,
        })
    }

    /// The part of the fingerprint that these options decide; policies are not included.
    pub fn fingerprint(&self) -> Fingerprint {
        let options = [
            ("--baseline", self.baseline.clone()),
            ("--window", or_default(self.window)),
            ("--overhead", or_default(self.overhead)),
            ("--tokenizer", format!("{:?}", self.tokenizer)),
            ("--thinking", self.thinking().map_or("as it is".to_owned(), |thinking| format!("{thinking:?}"))),
            ("--cache", format!("{:?}", self.cache())),
            ("--max-residual", self.max_residual.to_string()),
            ("--seed", self.seed.to_string()),
        ];
        let options = options.into_iter().map(|(option, value)| (option.to_owned(), value));
        options.chain([self.pricing.fingerprint()]).chain(self.summarizers.fingerprint()).collect()
    }
}

/// The value in a fingerprint; saved results hold these words.
fn or_default(tokens: Option<u64>) -> String {
    tokens.map_or("as it is".to_owned(), |tokens| tokens.to_string())
}

/// Loads a preset by its name, or the policy in a file.
fn load_source(name: &str) -> Result<Source, Failure> {
    if let Some(preset) = preset(name) {
        return Ok(Source { origin: name.to_owned(), text: preset.toml.to_owned() });
    }
    let text = read_settings(Path::new(name)).map_err(|error| {
        let known: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
        let what = format!("neither a readable TOML file ({error}) nor a preset{}", did_you_mean(name, &known));
        PolicyError { origin: name.to_owned(), line: None, what }
    })?;
    Ok(Source { origin: name.to_owned(), text })
}
