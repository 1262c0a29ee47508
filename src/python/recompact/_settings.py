"""The settings of a study, as keyword arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class Settings(TypedDict, total=False):
    """What is replayed, how, and what the results list. Every setting may be left out."""

    #: Changes of single settings by the id of their layer: `"micro.keep_recent_results=5"`. A sweep takes several values too:
    #: `"micro.keep_recent_results=1..5"`.
    set: Sequence[str]
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
    window: int | str
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
    #: First day of the conversations, in UTC: `"2026-10-01"`.
    since: str
    #: Last day of the conversations, in UTC.
    until: str
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
    where: Sequence[str]
    #: Columns to minimize; default: cost.ratio.
    minimize: Sequence[str]
    #: Columns to maximize; default: kept.hit.
    maximize: Sequence[str]
    #: Share of the sessions to hold out; default: 0.3, or 0 with fewer than 10 sessions.
    holdout: float


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


def only(names: Sequence[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings of a function that takes only some; another one would be ignored, so it is an error."""
    for name in settings:
        if name in Settings.__annotations__ and name not in names:
            raise TypeError(f"the setting `{name}` has no effect here; those that have: {', '.join(names)}")
    return dict(settings)


def split(settings: Mapping[str, Any], known: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Splits settings into those that are known and the others."""
    inner = {name: value for name, value in settings.items() if name in known}
    return inner, {name: value for name, value in settings.items() if name not in known}
