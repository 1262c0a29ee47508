//! What every study of policies takes: which policies, against which one, counted and priced how.

use std::path::Path;

use clap::{Args, ValueEnum};
use recompact::analysis::study::{MAX_RESIDUAL, Study, TokenCounter, expand_variants};
use recompact::analysis::sweep::Source;
use recompact::engine::policy::{PRESETS, Policy, PolicyError, Setting, preset, taken_by_none};
use recompact::results::stats::SEED;
use recompact::transcript::conversation::Thinking;
use recompact::util::text::did_you_mean;

use crate::cli::args::pricing::PricingArgs;
use crate::cli::args::summarizers::{Plan, SummarizerArgs};
use crate::cli::error::Failure;
use crate::cli::resume::Fingerprint;

#[derive(Args)]
pub struct StudyArgs {
    /// A preset's name (see `recompact catalog policies`) or a TOML file; may be given several times
    #[arg(short, long = "policy", value_name = "POLICY", required = true)]
    policies: Vec<String>,
    /// The policy that tokens.saved and cost.ratio compare with
    #[arg(long, value_name = "POLICY", default_value = "keep-all")]
    baseline: String,
    #[command(flatten)]
    writers: SummarizerArgs,
    /// The context window [default: the transcript's, else the policy's, else 200000]
    #[arg(long, value_name = "TOKENS")]
    window: Option<u64>,
    /// System prompt and tools, in every request [default: from the first recorded usage]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(..=u64::from(u32::MAX)))]
    overhead: Option<u64>,
    /// What counts tokens: own (each model's: calibrated on recorded usage where its tokenizer is not public, as Claude's, else
    /// o200k), recorded (calibrated whatever the model), o200k, cl100k, or an estimate such as chars/4 (see `recompact catalog
    /// meters`)
    #[arg(long, value_name = "NAME", default_value = "own")]
    tokenizer: TokenCounter,
    /// For how long thinking is sent again [default: as the format's provider does it]
    #[arg(long, value_enum)]
    thinking: Option<ThinkingFor>,
    /// Do not price a conversation whose replayed record costs more or less than was billed by more than this share
    #[arg(long, value_name = "SHARE", default_value_t = MAX_RESIDUAL, value_parser = share)]
    max_residual: f64,
    /// Of everything that is drawn: the sessions of intervals, a sweep's sample, the sessions it holds out. The same number, the
    /// same results
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,
    #[command(flatten)]
    priced: PricingArgs,
}

fn share(written: &str) -> Result<f64, String> {
    let share = written.parse().ok().filter(|share: &f64| *share >= 0.0);
    share.ok_or_else(|| "a share is needed, such as 0.15 for 15 %".to_owned())
}

#[derive(Clone, Copy, ValueEnum)]
enum ThinkingFor {
    /// Until the next typed message
    Turn,
    /// Always
    All,
    /// Never
    None,
}

impl StudyArgs {
    /// The policies that were asked for, not read yet.
    pub fn sources(&self) -> Result<Vec<Source>, Failure> {
        self.policies.iter().map(|name| source(name)).collect()
    }

    /// The policies that were asked for. A setting must fit at least one of them, and is applied to those it fits.
    pub fn asked(&self, settings: &[Setting]) -> Result<Vec<Policy>, Failure> {
        let mut policies = Vec::new();
        for source in self.sources()? {
            let plain = source.policy(&[])?;
            let fits = |setting: &&Setting| plain.has_layer(setting.layer.as_deref());
            let fitting: Vec<_> = settings.iter().filter(fits).cloned().collect();
            let policy = source.policy(&fitting)?;
            if policies.iter().any(|known: &Policy| known.name == policy.name) {
                return Err(Failure::Usage(format!("the policy `{}` is named twice", policy.name)));
            }
            policies.push(policy);
        }
        let all: Vec<&Policy> = policies.iter().collect();
        let untaken = |setting: &Setting| taken_by_none(&setting.written, setting.layer.as_deref(), &all);
        match settings.iter().find_map(untaken) {
            Some(what) => Err(Failure::Usage(what)),
            None => Ok(policies),
        }
    }

    /// Who writes the summaries.
    pub fn writers(&self) -> &SummarizerArgs {
        &self.writers
    }

    /// The same, with one writer that is held against nothing: policies keep their names.
    pub fn with_one_writer(mut self) -> Self {
        self.writers.is_alone = true;
        self
    }

    /// A study of these policies, each once for every summarizer. The one they are compared with is put behind them where it is not among them.
    pub fn study(&self, policies: Vec<Policy>, plan: Option<&mut Plan>) -> Result<Study, Failure> {
        let (prices, priced_as) = self.priced.load()?;
        let writers = self.writers.all(&prices, plan)?;
        let mut policies = expand_variants(policies, &writers);
        let named = |name: &str| policies.iter().position(|policy| policy.name == name);
        let baseline = match named(&self.baseline) {
            Some(index) => index,
            None => {
                let baseline = source(&self.baseline)?.policy(&[])?;
                if self.writers.compares() && baseline.summarizes() {
                    let variants = expand_variants(vec![baseline], &writers);
                    let names: Vec<_> = variants.iter().map(|variant| variant.name.as_str()).collect();
                    let what = format!(
                        "--baseline {}: several write its summaries; name one of them: {}",
                        self.baseline,
                        names.join(", ")
                    );
                    return Err(Failure::Usage(what));
                }
                match named(&baseline.name) {
                    Some(index) if policies[index].to_toml() == baseline.to_toml() => index,
                    Some(_) => {
                        let what = format!("--baseline {}: another policy is named `{}` too", self.baseline, baseline.name);
                        return Err(Failure::Usage(what));
                    }
                    None => {
                        policies.push(baseline);
                        policies.len() - 1
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
            writers,
            max_residual: self.max_residual,
            seed: self.seed,
            prices,
            priced_as,
            ..Study::new(policies)
        })
    }

    fn thinking(&self) -> Option<Thinking> {
        self.thinking.map(|thinking| match thinking {
            ThinkingFor::Turn => Thinking::Turn,
            ThinkingFor::All => Thinking::All,
            ThinkingFor::None => Thinking::None,
        })
    }

    /// Whatever decides the results, but for the policies, so that a stopped study goes on with nothing else.
    pub fn question(&self) -> Fingerprint {
        let options = [
            ("--baseline", self.baseline.clone()),
            ("--window", or_as_it_is(self.window)),
            ("--overhead", or_as_it_is(self.overhead)),
            ("--tokenizer", format!("{:?}", self.tokenizer)),
            ("--thinking", self.thinking().map_or("as it is".to_owned(), |thinking| format!("{thinking:?}"))),
            ("--max-residual", self.max_residual.to_string()),
            ("--seed", self.seed.to_string()),
        ];
        let options = options.into_iter().map(|(option, value)| (option.to_owned(), value));
        options.chain([self.priced.question()]).chain(self.writers.question()).collect()
    }
}

fn or_as_it_is(tokens: Option<u64>) -> String {
    tokens.map_or("as it is".to_owned(), |tokens| tokens.to_string())
}

/// A preset by its name, or the policy in a file.
fn source(name: &str) -> Result<Source, Failure> {
    if let Some(preset) = preset(name) {
        return Ok(Source { origin: name.to_owned(), text: preset.toml.to_owned() });
    }
    let text = std::fs::read_to_string(Path::new(name)).map_err(|error| {
        let known: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
        let what = format!("neither a TOML file that can be read ({error}) nor a preset{}", did_you_mean(name, &known));
        PolicyError { origin: name.to_owned(), line: None, what }
    })?;
    Ok(Source { origin: name.to_owned(), text })
}
