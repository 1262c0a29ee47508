"""Replays and sweeps."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, overload

from . import _arguments, _native
from ._parts import Part, replayed, swept, swept_policies
from ._policies import OnError, Policies, given
from ._results import Results
from ._settings import SearchSettings, Settings, natural, split, takes
from ._watching import Paths, Progress, finished, list_of, watching

if TYPE_CHECKING:
    from typing_extensions import Unpack

    class _Sweep(Settings, SearchSettings, total=False):
        pass


@overload
def replay(
    paths: Paths,
    policies: Policies | None = None,
    *,
    part: Literal[False] = False,
    allow_programs: bool = False,
    on_error: OnError = "raise",
    jobs: int | None = None,
    progress: bool | Progress | None = None,
    **settings: Unpack[Settings],
) -> Results: ...
@overload
def replay(
    paths: Paths,
    policies: Policies,
    *,
    part: Literal[True],
    allow_programs: bool = False,
    on_error: OnError = "raise",
    jobs: int | None = None,
    progress: bool | Progress | None = None,
    **settings: Unpack[Settings],
) -> Part: ...
@takes(*Settings.__annotations__)
def replay(
    paths: Paths,
    policies: Policies | None = None,
    *,
    part: bool = False,
    allow_programs: bool = False,
    on_error: OnError = "raise",
    jobs: int | None = None,
    progress: bool | Progress | None = None,
    **settings: Unpack[Settings],
) -> Results | Part:
    """Replays transcripts through policies and compares these.

    `paths` are files, folders (searched for transcripts) or patterns. A policy is the name of a preset, the path of a policy file,
    its text, its content as a dict, a function (see `recompact.policy`), or a program as `mine=command:node mine.mjs`. A program that
    a policy file names is started with `allow_programs` only. Default: the presets that the program replays. `Settings` describes all
    further arguments, `jobs` is the number of threads, and `progress` shows or hides the progress bar, or is called with it.

    What cannot be read is left out with a `RecompactWarning`; `strict=True` makes it an error. If a policy fails, so does the replay: a
    `RecompactError` names the session and the call, and its `__cause__` is the exception of the function. With `on_error="skip"` the
    session is left out with a warning, for every policy: what is left may be easier than what failed, and the verdict says so.

    Functions run in the thread that calls, one at a time: Ctrl-C ends one, and so does the time limit of 30 seconds for each answer.

    With `part=True` it returns a `Part`: what these transcripts add to a study on many machines. A file that is no transcript is then no
    error, and nothing is said of what was skipped before `finish`.

    >>> import recompact
    >>> mine = '''
    ... name = "mine"
    ... [[layer]]
    ... id = "old results"
    ... do = "clear"
    ... keep_recent_results = 5
    ... '''
    >>> results = recompact.replay("fixtures/transcripts/codex", [mine, "lcc-s08"], window=100_000)
    >>> results.total("mine", "broken.requests")
    0

    Raises `RecompactError`, which is a `ValueError`, with what is wrong, where, and what to do; `TypeError` for an argument of another
    type.
    """
    if policies is None and part:
        raise _native.RecompactError("policies: what is replayed by default depends on all transcripts, so a part needs them")
    named = _native.usual_policies(list_of(paths), natural(settings)) if policies is None else policies
    return finished(*replayed((list_of(paths), [], part), given(named, allow_programs, on_error), part, jobs, progress, settings))


@overload
def sweep(
    paths: Paths,
    policies: Policies | None = None,
    *,
    part: Literal[False] = False,
    jobs: int | None = None,
    progress: bool | Progress | None = None,
    **settings: Unpack[_Sweep],
) -> Results: ...
@overload
def sweep(
    paths: Paths,
    policies: Policies | None = None,
    *,
    part: Literal[True],
    after: Part | bytes | None = None,
    jobs: int | None = None,
    progress: bool | Progress | None = None,
    **settings: Unpack[_Sweep],
) -> Part: ...
@takes(*Settings.__annotations__, *SearchSettings.__annotations__)
def sweep(
    paths: Paths,
    policies: Policies | None = None,
    *,
    part: bool = False,
    after: Part | bytes | None = None,
    jobs: int | None = None,
    progress: bool | Progress | None = None,
    **settings: Unpack[_Sweep],
) -> Results | Part:
    """Searches the settings of policies for the best trade-offs, and recommends a configuration.

    The values to try are in `set`, or else in `[sweep]` of each policy. `Settings` and `SearchSettings` describe all further
    arguments; the others are those of `replay`.

    With `part=True` it returns a `Part`: what these transcripts give in the first stage of a sweep on many machines, or in the stage that
    follows from `after`, the merged part of all transcripts.

    >>> import recompact
    >>> found = recompact.sweep("fixtures/transcripts/codex", ["lcc-s06"], set=["micro.keep_recent_results=1,3,9"])
    >>> len(found.configurations)
    3
    >>> found.recommended.policy
    'lcc-s06 micro.keep_recent_results=1'
    """
    if _arguments.flag("part", part):
        return swept((list_of(paths), [], True), policies, after, jobs, progress, settings)
    if after is not None:
        raise _native.RecompactError("after: a stage of a sweep gives a part: add part=True")
    search, study = split(natural(settings), tuple(SearchSettings.__annotations__))
    with watching(jobs, progress) as watch:
        native, skipped = _native.sweep(list_of(paths), swept_policies(policies), study, search, watch)
    return finished(skipped, Results(native))


def load(path: str | os.PathLike[str]) -> Results:
    """Reads results that `recompact replay -o json` or `Results.save` wrote; the file may be compressed.

    >>> import recompact, tempfile, pathlib
    >>> results = recompact.replay("fixtures/transcripts/codex/repair.jsonl", ["claude-code"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results.save(pathlib.Path(folder, "results.json"))
    ...     recompact.load(pathlib.Path(folder, "results.json")).summary == results.summary
    True
    """
    return Results(_native.load(_arguments.path("path", path)))
