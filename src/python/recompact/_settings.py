"""The settings of a study, as keyword arguments."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timezone
from os import PathLike
from typing import Any, Literal, Optional, SupportsIndex, TypedDict, TypeVar, Union, get_type_hints

from ._arguments import count, plain, text

Function = TypeVar("Function", bound=Callable[..., Any])

#: One text, or several.
Texts = Union[str, Sequence[str]]

#: A whole number, which may be written as `8e4`, or come from numpy.
Whole = Union[int, float, SupportsIndex]


class _Reading(TypedDict, total=False):
    """Which transcripts are read, apart from the recorded model."""

    #: Format of every transcript; default: detected.
    format: str
    #: Branches to read if a conversation was rewound or edited; default: `"last"`.
    branches: Literal["last", "all"]
    #: Whether an unreadable line is an error; default: `False`, it is skipped with a warning.
    strict: bool
    #: Largest transcript to read, decompressed: `"2GB"`; default: 1 GiB.
    max_file: Whole | str
    #: First day of the conversations, in UTC: `"2026-10-01"`, a date, or `"30d"` and `"4w"` before today.
    since: str | date
    #: Last day of the conversations, in UTC.
    until: str | date
    #: Part of the path of the working directory.
    project: str
    #: Number of sessions: those whose files are the newest.
    newest: Whole


class Reading(_Reading, total=False):
    """Which transcripts are read, and how. Every setting may be left out."""

    #: Part of the name of a model.
    model: str


class _Counting(TypedDict, total=False):
    """How tokens are counted."""

    #: Token counter: `own`, `recorded`, `o200k`, `cl100k`, `chars/4`; default: `"own"`.
    tokenizer: str


class Auditing(Reading, _Counting, total=False):
    """Which transcripts are audited, and how. Every setting may be left out."""


class _Pricing(TypedDict, total=False):
    """What calls cost."""

    #: A model that all calls are priced as, or a price list; default: each call by its model and date.
    prices: str | PathLike[str]


class Inspecting(Auditing, _Pricing, total=False):
    """Which transcripts are inspected, and how. Every setting may be left out."""


class _Replaying(TypedDict, total=False):
    """How policies are replayed."""

    #: Changes of single settings by the id of their layer: `{"micro.keep_recent_results": 5}`, `"micro.keep_recent_results=5"`, or a
    #: list of such texts. A sweep takes several values too: `{"micro.keep_recent_results": [1, 3, 5]}`,
    #: `"micro.keep_recent_results=1..5"`.
    set: Mapping[str, Any] | Texts
    #: Summarizer, or several to compare: `extract`, `stub:TOKENS`, `fixed:TEXT`, `failing`, `command:PROGRAM`; default: extract.
    summarizer: str | Sequence[str]
    #: Samples per summary of each model; default: `1`.
    replicates: Whole
    #: Extra fields of every request to a model, such as `{"temperature": 0}`.
    param: Mapping[str, Any]
    #: Context window, in tokens: `80_000`, `8e4`, `"80k"`; default: the transcript's, else the policy's, else 200000.
    window: Whole | str
    #: Tokens of system prompt and tools in every request; default: taken from the first recorded usage.
    overhead: Whole
    #: How long thinking is sent again; default: as the format's provider does.
    thinking: Literal["turn", "all", "none"]
    #: Random seed for bootstrap intervals, sweep samples and the hold-out split.
    seed: Whole


class Probing(_Reading, _Counting, _Pricing, _Replaying, total=False):
    """What is replayed for a probe, and how. Every setting may be left out; `model` is an argument of its own."""


class Settings(Inspecting, _Replaying, total=False):
    """What is replayed, how, and what the results list. Every setting may be left out."""

    #: The policy that `tokens.saved` and `cost.ratio` compare with; default: `"keep-all"`.
    baseline: str
    #: Whether `extract` and a stub are added to the summarizers, as references; default: `False`.
    references: bool
    #: Prompt cache of the replays: as the record shows it, or as the provider's rules describe it; default: `"recorded"`.
    cache: Literal["recorded", "ideal"]
    #: A conversation is not priced if its simulated cost differs from the bill by more than this share; default: `0.15`.
    max_residual: float
    #: Number of lost facts to list for each policy; default: `3`.
    misses: Whole
    #: Number of cache invalidations to list for each policy; default: `3`.
    breaks: Whole
    #: Whether findings are detected; default: `False`.
    findings: bool
    #: Whether secrets in the transcripts are shown where results quote them; default: `False`.
    show_secrets: bool
    #: Whether the upper bound of retention is computed by linear programming; default: `False`.
    exact: bool
    #: Whether the bounds keep-all and drop-all are replayed too; default: `True`.
    bounds: bool


class SearchSettings(TypedDict, total=False):
    """How a sweep searches. Every setting may be left out."""

    #: Number of configurations to try, spread evenly; default: all.
    sample: Whole
    #: Conditions on totals: `"kept.hard <= 2%"`.
    where: Texts
    #: Columns to minimize; default: `"cost.ratio"`.
    minimize: Texts
    #: Columns to maximize; default: `"kept.hit"`.
    maximize: Texts
    #: Share of the sessions to hold out; default: 0.3, or 0 with fewer than 10 sessions.
    holdout: float


class ModelSettings(TypedDict, total=False):
    """How models are asked, and what they may cost. Every setting may be left out."""

    #: Base URL for models that do not name one (`openai:MODEL@URL`); default: the provider's.
    base_url: str
    #: Environment variable that holds the API key; default: OPENAI_API_KEY or ANTHROPIC_API_KEY.
    key_env: str
    #: Timeout of one attempt in seconds; default: `600`.
    timeout: Whole
    #: Retries after a failed attempt; default: `5`.
    retries: Whole
    #: Maximum number of calls at a time; default: `4`.
    concurrency: Whole
    #: Folder in which the answers of models are saved, and from which those that it holds are taken.
    cassette: str | PathLike[str]
    #: `"auto"` asks for the answers that the cassette does not hold, `"replay"` asks nothing, `"record"` asks everything again; default: `"auto"`.
    cassette_mode: Literal["auto", "replay", "record"]
    #: Maximum number of calls; summaries and answers that need more are left out.
    max_calls: Whole
    #: Maximum cost in USD; calls that could exceed it are not made.
    max_cost: float


#: The settings that say which transcripts are read, and how.
READING = tuple(Reading.__annotations__)

#: Those of an audit, and of an inspection.
AUDITING = tuple(Auditing.__annotations__)
INSPECTING = tuple(Inspecting.__annotations__)

#: Those of a probe, and those of its model.
PROBING = tuple(Probing.__annotations__)
MODELS = tuple(ModelSettings.__annotations__)

def _about() -> dict[str, str]:
    """Returns what the comments above the settings say, for `help()`; nothing if the package has no sources."""
    try:
        source = inspect.getsource(sys.modules[__name__])
    except OSError:
        return {}
    settings = re.findall(r"^((?:    #: .*\n)+)    (\w+): ", source, re.MULTILINE)
    return {name: " ".join(line.strip()[3:] for line in comment.splitlines()) for comment, name in settings}


#: What each setting is.
ABOUT = _about()

#: Those defaults that are one value, whatever the transcripts are.
DEFAULTS: dict[str, Any] = {
    name: ast.literal_eval(default[1]) for name, about in ABOUT.items() if (default := re.search("default: `([^`]*)`", about))
}

#: The types of all settings, as they are written.
_KINDS: tuple[Any, ...] = (Settings, SearchSettings, ModelSettings)
_TYPES = {name: str(type) for kind in _KINDS for name, type in kind.__annotations__.items()}


def takes(*names: str) -> Callable[[Function], Function]:
    """Shows settings in the signature of a function, for `help()` and for completion in notebooks."""
    types = {name: type for kind in _KINDS for name, type in get_type_hints(kind).items()}

    def shown(function: Function) -> Function:
        own = inspect.signature(function)
        parameters = [parameter for parameter in own.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
        keyword = inspect.Parameter.KEYWORD_ONLY
        own_types = {name: types[name] if name in DEFAULTS else Optional[types[name]] for name in names}
        parameters += [inspect.Parameter(name, keyword, default=DEFAULTS.get(name), annotation=own_types[name]) for name in names]
        function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        function.__annotations__.pop("settings")
        function.__annotations__.update(own_types)
        described = [f"    {name}: {ABOUT[name]}" for name in names if name in ABOUT]
        function.__doc__ = "\n".join([*inspect.cleandoc(function.__doc__ or "").splitlines(), "", "Settings:", *described])
        return function

    return shown


def natural(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings in the form of a policy file: lists of texts, whole numbers, days as texts."""
    return {name: _natural(name, value) for name, value in settings.items()}


def _natural(name: str, value: Any) -> Any:
    value, type = plain(value), _TYPES.get(name, "")
    if value is None:
        return None
    if "Texts" in type:
        return _texts(name, value)
    if "date" in type:
        return _day(name, value)
    if name in ("newest", "sample"):
        return count(name, value)
    if "Whole" in type:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if "str" in type and (isinstance(value, bool) or not isinstance(value, (int, float, str, SupportsIndex))):
            raise TypeError(f"{name}: a number or a text is needed, not {value!r}")
    return value


def _texts(name: str, value: Any) -> list[Any]:
    if name == "set" and isinstance(value, Mapping):
        return [f"{text('set', setting)}={_values(setting, values)}" for setting, values in value.items()]
    if isinstance(value, str):
        return [value]
    if isinstance(value, (bytes, Mapping)) or not isinstance(value, Iterable):
        raise TypeError(f"{name}: {'a dict, ' if name == 'set' else ''}a text or several are needed, not {value!r}")
    return list(value)


def _day(name: str, value: Any) -> str:
    if isinstance(value, datetime) and value.tzinfo:
        value = value.astimezone(timezone.utc)
    if isinstance(value, date):
        return f"{value:%Y-%m-%d}"
    if not isinstance(value, str):
        raise TypeError(f"{name}: a text or a date is needed, not {value!r}")
    return value


def _values(setting: str, values: Any) -> str:
    """Returns one value or several as they are written behind the `=` of a setting."""
    values = plain(values)
    if isinstance(values, bool):
        return "true" if values else "false"
    if isinstance(values, float) and values.is_integer():
        return str(int(values))
    if isinstance(values, (int, float, str)):
        return str(values)
    if not isinstance(values, (list, tuple, range)):
        raise TypeError(f"set: {setting}: a text, a number, a bool or several are needed, not {values!r}")
    return ",".join(_values(setting, value) for value in values)


def only(names: Sequence[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings of a function that takes only some; another one would be ignored, so it is an error."""
    for name in settings:
        if name in Settings.__annotations__ and name not in names:
            raise TypeError(f"the setting `{name}` has no effect here; those that have: {', '.join(names)}")
    return natural(settings)


def split(settings: Mapping[str, Any], known: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Splits settings into those that are known and the others."""
    inner = {name: value for name, value in settings.items() if name in known}
    return inner, {name: value for name, value in settings.items() if name not in known}
