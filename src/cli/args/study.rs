//! Options of every study: which policies, which baseline, how tokens are counted and priced.

use std::path::Path;
use std::str::FromStr;

use clap::builder::{RangedU64ValueParser, StringValueParser};
use clap::{Args, ValueEnum};
use recompact::analysis::spec::{StudySpec, typed_program};
use recompact::analysis::study::{MAX_RESIDUAL, TokenCounter};
use recompact::analysis::usual::usual_policies;
use recompact::engine::policy::{FAMILIES, PRESETS, Preset, family, preset};
use recompact::engine::size::parse_tokens;
use recompact::metrics::prompt_cache::CacheMode;
use recompact::results::Role;
use recompact::results::stats::SEED;
use recompact::transcript::conversation::Thinking;

use crate::cli::args::pricing::PricingArgs;
use crate::cli::args::programs::{ProgramAccess, ProgramArgs};
use crate::cli::args::suggestions::suggesting;
use crate::cli::args::summarizers::SummarizerArgs;
use crate::cli::file_uses::FileUses;
use crate::cli::help::COUNTING;

/// Means every preset but the bounds, which are in each comparison anyway.
const ALL: &str = "all";

/// The presets that a user can switch on. The provider decides whether the others act.
pub fn shippable_presets() -> Vec<String> {
    let is_shippable = |preset: &&Preset| {
        let is_yours = preset.policy(&[]).is_ok_and(|policy| policy.decided_by.is_none());
        is_yours && Role::of(preset.name) == Role::Candidate
    };
    PRESETS.iter().filter(is_shippable).map(|preset| preset.name.to_owned()).collect()
}

/// The presets that a user may want to replay: without the bounds.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name).filter(|name| !Role::of(name).is_bound())
}

/// What `-p` takes for several presets at once. The bounds are in each comparison anyway.
fn groups() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().skip(1).map(|family| family.name).chain([ALL])
}

/// The presets of a family, all of them, or the policy itself.
fn presets(name: &str) -> Vec<String> {
    match family(name) {
        Some(family) => family.presets.iter().map(|&name| name.to_owned()).collect(),
        None if name == ALL => preset_names().map(str::to_owned).collect(),
        None => vec![name.to_owned()],
    }
}

#[derive(Args)]
pub struct StudyArgs {
    /// Policy to replay: a preset (see `recompact catalog policies`) or a TOML file; repeatable [default: a short list of presets]
    ///
    /// NAME=command:PROGRAM is your own code (see `recompact guide programs`). A family, such as coding-agents, is each of its
    /// presets, all is every preset. Several are separated by commas, or the option is repeated.
    #[arg(short, long = "policy", value_name = "POLICY", hide_possible_values = true,
        value_parser = suggesting(|| preset_names().chain(groups()).collect(), StringValueParser::new()))]
    policies: Vec<String>,
    /// Whether the policies are swept, which are other ones if none is named.
    #[arg(skip)]
    pub sweeps: bool,
    /// Policy that tokens.saved and cost.ratio compare with
    #[arg(help_heading = COUNTING, long, value_name = "POLICY", default_value = "keep-all")]
    baseline: String,
    #[command(flatten)]
    summarizers: SummarizerArgs,
    /// Context window in tokens [default: the transcript's, else the policy's, else 200k]
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    window: Option<u64>,
    /// Tokens of the system prompt and tools in every request [default: from the first recorded usage]
    #[arg(help_heading = COUNTING, long, value_name = "TOKENS", value_parser = RangedU64ValueParser::<u32>::new().range(..=u64::from(u32::MAX)))]
    overhead: Option<u32>,
    /// Token counter: own (each model's own tokenizer: o200k or cl100k, or calibrated on recorded usage if it is
    /// not public, as Claude's), recorded (calibrated for every model), o200k, cl100k, or an estimate such as chars/4
    /// (see `recompact catalog meters`)
    #[arg(help_heading = COUNTING, long, value_name = "NAME", default_value = "own")]
    tokenizer: TokenCounter,
    /// How long thinking is sent again [default: as the format's provider does]
    #[arg(help_heading = COUNTING, long, value_enum)]
    thinking: Option<ThinkingFor>,
    /// Prompt cache of the replays: as the record shows it, with its evictions and other events, or as the provider's rules
    /// describe it
    #[arg(help_heading = COUNTING, long, value_enum, default_value = "recorded")]
    cache: CacheArg,
    /// Do not price a conversation whose simulated cost differs from the bill by more than this share
    #[arg(help_heading = COUNTING, long, value_name = "SHARE", default_value_t = MAX_RESIDUAL, value_parser = share)]
    max_residual: f64,
    /// Random seed for bootstrap intervals, sweep samples and the hold-out split
    #[arg(help_heading = COUNTING, long, value_name = "N", default_value_t = SEED)]
    seed: u64,
    #[command(flatten)]
    pricing: PricingArgs,
    #[command(flatten)]
    programs: ProgramArgs,
}

/// Checks a value, and keeps it as it is written: the description of a study holds texts.
pub fn checked<T: FromStr>(written: &str) -> Result<String, T::Err> {
    written.parse::<T>().map(|_| written.to_owned())
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
    /// Adds the files that these options name.
    pub fn add_to(&self, uses: &mut FileUses) {
        let is_file = |name: &str| preset(name).is_none() && typed_program(name).is_none();
        for name in self.policies().iter().filter(|name| is_file(name)) {
            uses.read("--policy", name);
        }
        if is_file(&self.baseline) {
            uses.read("--baseline", &self.baseline);
        }
        self.pricing.add_to(uses);
        self.summarizers.models().add_to(uses);
    }

    /// Takes this policy if none is named.
    pub fn or_policy(&mut self, name: &str) {
        if self.policies.is_empty() {
            self.policies.push(name.to_owned());
        }
    }

    /// Whether no policy is named.
    pub fn names_no_policy(&self) -> bool {
        self.policies.is_empty()
    }

    /// Returns the names of the policies. A comma separates two, unless it is part of a command or of the name of a file.
    fn policies(&self) -> Vec<String> {
        if self.policies.is_empty() {
            return if self.sweeps { shippable_presets() } else { usual_policies([]) };
        }
        let names = self.policies.iter().flat_map(|written| {
            let is_one = typed_program(written).is_some() || Path::new(written).exists();
            if is_one { vec![written.as_str()] } else { written.split(',').map(str::trim).collect() }
        });
        names.flat_map(presets).collect()
    }

    /// The summarizer options.
    pub fn summarizers(&self) -> &SummarizerArgs {
        &self.summarizers
    }

    /// The programs that these options allow.
    pub fn programs(&self) -> ProgramAccess {
        self.programs.access(true)
    }

    /// Describes a study with these options.
    pub fn spec(&self) -> StudySpec {
        let thinking = self.thinking.map(|thinking| match thinking {
            ThinkingFor::Turn => Thinking::Turn,
            ThinkingFor::All => Thinking::All,
            ThinkingFor::None => Thinking::None,
        });
        let cache = match self.cache {
            CacheArg::Recorded => CacheMode::Recorded,
            CacheArg::Ideal => CacheMode::Ideal,
        };
        let mut spec = StudySpec {
            policies: self.policies().into_iter().map(Into::into).collect(),
            baseline: self.baseline.clone(),
            window: self.window,
            overhead: self.overhead,
            tokenizer: self.tokenizer,
            thinking,
            cache,
            max_residual: self.max_residual,
            seed: self.seed,
            prices: self.pricing.given().map(str::to_owned),
            ..StudySpec::default()
        };
        self.summarizers.describe(&mut spec);
        spec
    }
}
