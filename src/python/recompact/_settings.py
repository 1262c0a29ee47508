"""The settings of a study, as keyword arguments."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from os import PathLike
from typing import Any, Literal, TypedDict, TypeVar, Union

Function = TypeVar("Function", bound=Callable[..., Any])

#: One text, or several.
Texts = Union[str, Sequence[str]]


class Settings(TypedDict, total=False):
    """What is replayed, how, and what the results list. Every setting may be left out."""

    #: Changes of single settings by the id of their layer: `{"micro.keep_recent_results": 5}`, `"micro.keep_recent_results=5"`, or a
    #: list of such texts. A sweep takes several values too: `{"micro.keep_recent_results": [1, 3, 5]}`,
    #: `"micro.keep_recent_results=1..5"`.
    set: Mapping[str, Any] | Texts
    #: The policy that `tokens.saved` and `cost.ratio` compare with; default: keep-all.
    baseline: str
    #: Summarizer, or several to compare: `extract`, `stub:TOKENS`, `fixed:TEXT`, `failing`, `command:PROGRAM`; default: extract.
    summarizer: str | Sequence[str]
    #: Samples per summary of each model; default: 1.
    replicates: int
    #: Whether `extract` and a stub are added to the summarizers, as references; default: False.
    references: bool
    #: Extra fields of every request to a model, such as `{"temperature": 0}`.
    param: Mapping[str, Any]
    #: Context window, in tokens; default: the transcript's, else the policy's, else 200000.
    window: float | str
    #: Tokens of system prompt and tools in every request; default: taken from the first recorded usage.
    overhead: int
    #: Token counter: `own`, `recorded`, `o200k`, `cl100k`, `chars/4`; default: own.
    tokenizer: str
    #: How long thinking is sent again; default: as the format's provider does.
    thinking: Literal["turn", "all", "none"]
    #: Prompt cache of the replays: as the record shows it, or as the provider's rules describe it; default: recorded.
    cache: Literal["recorded", "ideal"]
    #: A conversation is not priced if its simulated cost differs from the bill by more than this share; default: 0.15.
    max_residual: float
    #: A model that all calls are priced as, or a price list; default: each call by its model and date.
    prices: str | PathLike[str]
    #: Random seed for bootstrap intervals, sweep samples and the hold-out split.
    seed: int
    #: Number of lost facts to list for each policy; default: 3.
    misses: int
    #: Number of cache invalidations to list for each policy; default: 3.
    breaks: int
    #: Whether findings are detected; default: False.
    findings: bool
    #: Whether secrets in the transcripts are shown where results quote them; default: False.
    show_secrets: bool
    #: Whether the upper bound of retention is computed by linear programming; default: False.
    exact: bool
    #: Whether the bounds keep-all and drop-all are replayed too; default: True.
    bounds: bool
    #: Format of every transcript; default: detected.
    format: str
    #: Branches to read if a conversation was rewound or edited; default: last.
    branches: Literal["last", "all"]
    #: Whether an unreadable line is an error; default: False, it is skipped with a warning.
    strict: bool
    #: Largest transcript to read, decompressed: `"2GB"`; default: 1 GiB.
    max_file: int | str
    #: First day of the conversations, in UTC: `"2026-10-01"`, or a date.
    since: str | date
    #: Last day of the conversations, in UTC.
    until: str | date
    #: Part of the path of the working directory.
    project: str
    #: Part of the name of a model.
    model: str
    #: Number of sessions: those whose files are the newest.
    newest: int


class SearchSettings(TypedDict, total=False):
    """How a sweep searches. Every setting may be left out."""

    #: Number of configurations to try, spread evenly; default: all.
    sample: int
    #: Conditions on totals: `"kept.hard <= 2%"`.
    where: Texts
    #: Columns to minimize; default: cost.ratio.
    minimize: Texts
    #: Columns to maximize; default: kept.hit.
    maximize: Texts
    #: Share of the sessions to hold out; default: 0.3, or 0 with fewer than 10 sessions.
    holdout: float


#: The settings that are lists of texts.
LISTS = ("set", "where", "minimize", "maximize")

#: The settings that are whole numbers, also if they are written as `8e4`.
WHOLE = ("replicates", "window", "overhead", "seed", "misses", "breaks", "newest", "sample", "max_file")

#: The settings that say which transcripts are read, and how.
READING = ("format", "branches", "strict", "max_file", "since", "until", "project", "model", "newest")


def takes(*names: str) -> Callable[[Function], Function]:
    """Shows settings in the signature of a function, for `help()` and for completion in notebooks."""
    annotations = Settings.__annotations__ | SearchSettings.__annotations__

    def shown(function: Function) -> Function:
        own = inspect.signature(function)
        parameters = [parameter for parameter in own.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters += [inspect.Parameter(name, keyword, default=None, annotation=annotations[name]) for name in names]
        function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return function

    return shown


def natural(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings in the form of a policy file: lists of texts, whole numbers, days as texts."""
    return {name: _natural(name, value) for name, value in settings.items()}


def _natural(name: str, value: Any) -> Any:
    if name == "set" and isinstance(value, Mapping):
        return [f"{setting}={_values(values)}" for setting, values in value.items()]
    if name in LISTS and isinstance(value, str):
        return [value]
    if isinstance(value, date):
        return f"{value:%Y-%m-%d}"
    if name in WHOLE and isinstance(value, float) and value.is_integer():
        return int(value)
    # The integers of numpy.
    return operator.index(value) if hasattr(value, "__index__") and not isinstance(value, int) else value


def _values(values: Any) -> str:
    """Returns one value or several as they are written behind the `=` of a setting."""
    if isinstance(values, bool):
        return "true" if values else "false"
    return ",".join(map(_values, values)) if isinstance(values, (list, tuple, range)) else str(values)


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
