"""Parts of a study or of a sweep, for engines that run it on many machines."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union, overload

from . import _arguments, _native, _rows
from ._calls import without_running_loop
from ._policies import OnError, Policies, given, list_of_policies
from ._results import Results
from ._settings import SearchSettings, Settings, natural, split, takes
from ._watching import NOTHING_SKIPPED, Progress, finished, watching

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: The name of a transcript and its content, which may be compressed as its name says.
Content = tuple[str, bytes]


class Part:
    """What some transcripts of a study or a sweep give: bytes that any machine can keep, send, and merge with other parts.

    >>> import recompact
    >>> files = ["fixtures/transcripts/codex/repair.jsonl", "fixtures/transcripts/openai-chat/tasks.json"]
    >>> parts = [recompact.replay(file, "lcc-s08", part=True) for file in files]
    >>> whole = recompact.replay(files, "lcc-s08")
    >>> recompact.finish(parts).to_dict() == whole.to_dict()
    True
    """

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        if not isinstance(data, bytes):
            raise TypeError(f"data: bytes are needed, not {type(data).__name__}")
        #: As `recompact replay --part` writes it.
        self.data = data

    @property
    def next_stage(self) -> str | None:
        """What is to be replayed before `finish`, if it is the merged part of a sweep that is not complete: `40 configurations on 12
        sessions; 7 of 30 transcripts are left`."""
        return _native.next_stage(self.data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file, which `recompact merge` takes, too."""
        Path(path).write_bytes(self.data)

    def __repr__(self) -> str:
        return f"<part of a study: {len(self.data):,} bytes>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Part) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)


#: Parts, as objects, as their bytes or as the files that hold them.
Parts = Iterable[Union[Part, bytes, str, os.PathLike[str]]]


def merge(parts: Parts) -> Part:
    """Merges parts of one study. Their order changes nothing, and what is in several counts once, so a task may be repeated.

    >>> import recompact
    >>> one = recompact.replay("fixtures/transcripts/codex/repair.jsonl", "lcc-s08", part=True)
    >>> recompact.merge([one, recompact.merge([one])]) == one
    True
    """
    return Part(_native.merge(_data(parts)))


def finish(parts: Part | Parts) -> Results:
    """Makes one study of parts: the results are those of the whole study, to the byte.

    Policy files and prices must be as they were for the parts. Functions are not called. What was skipped is a `RecompactWarning`. A sweep
    must be complete: `Part.next_stage` says what is left.

    >>> import recompact
    >>> part = recompact.replay("fixtures/transcripts/codex/repair.jsonl", "lcc-s08", part=True)
    >>> round(recompact.finish(part).total("lcc-s08", "tokens.saved"), 2)
    0.75
    """
    native, skipped = _native.finish(_data([parts] if isinstance(parts, (Part, bytes, str, os.PathLike)) else parts))
    return finished(skipped, Results(native))


def _data(parts: Parts) -> list[bytes]:
    if isinstance(parts, (Part, bytes, str, os.PathLike)) or not isinstance(parts, Iterable):
        raise TypeError(f"parts: several parts are needed, not {type(parts).__name__}")
    return [part.data if isinstance(part, Part) else part if isinstance(part, bytes) else Path(part).read_bytes() for part in parts]


@overload
def replay_bytes(
    transcripts: Iterable[Content],
    policies: Policies,
    *,
    part: Literal[False] = False,
    allow_programs: bool = False,
    on_error: OnError = "raise",
    jobs: int | None = None,
    progress: bool | Progress | None = None,
    **settings: Unpack[Settings],
) -> Results: ...
@overload
def replay_bytes(
    transcripts: Iterable[Content],
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
def replay_bytes(
    transcripts: Iterable[Content],
    policies: Policies,
    *,
    part: bool = False,
    allow_programs: bool = False,
    on_error: OnError = "raise",
    jobs: int | None = None,
    progress: bool | Progress | None = None,
    **settings: Unpack[Settings],
) -> Results | Part:
    """Replays transcripts that an engine has read: pairs of a name and of bytes. The rest is as in `replay`.

    What is no transcript is left out, as a file that is found in a folder. Without a folder, a sub-agent that a session reports and that
    has a transcript of its own counts as a copy.

    >>> import recompact, pathlib
    >>> path = "fixtures/transcripts/codex/repair.jsonl"
    >>> results = recompact.replay_bytes([(path, pathlib.Path(path).read_bytes())], "lcc-s08")
    >>> results.to_dict() == recompact.replay(path, "lcc-s08").to_dict()
    True
    """
    held = [_content(pair) for pair in transcripts]
    if not held and not part:
        raise _native.RecompactError("transcripts: there is none")
    return finished(*replayed(([], held, False), given(policies, allow_programs, on_error), part, jobs, progress, settings))


def _content(pair: Any) -> Content:
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[1], (bytes, bytearray, memoryview))):
        raise TypeError(f"transcripts: pairs of a name and of bytes are needed, not {reprlib.repr(pair)}")
    name, content = pair
    return os.fspath(name) if isinstance(name, os.PathLike) else _arguments.text("transcripts", name), bytes(content)


def replayed(
    sources: tuple[list[str], list[Content], bool],
    policies: Any,
    part: bool,
    jobs: int | None,
    progress: bool | Progress | None,
    settings: Any,
) -> tuple[dict[str, Sequence[str]], Results | Part]:
    """Replays transcripts at paths, or those that were read before, as a study or as a part of one. Returns what was skipped, too."""
    with watching(jobs, progress) as watch, without_running_loop():
        if _arguments.flag("part", part):
            return NOTHING_SKIPPED, Part(_native.replay_part(sources, policies, natural(settings), watch))
        native, skipped = _native.replay(sources, policies, natural(settings), watch)
    return skipped, Results(native)


def swept(
    sources: tuple[list[str], list[Content], bool],
    policies: Policies | None,
    after: Part | bytes | None,
    jobs: int | None,
    progress: bool | Progress | None,
    settings: Any,
) -> Part:
    """Returns what transcripts give in the next stage of a sweep."""
    if not isinstance(after, (Part, bytes, type(None))):
        raise TypeError(f"after: a Part is needed, not {type(after).__name__}")
    search, study = split(natural(settings), tuple(SearchSettings.__annotations__))
    so_far = after.data if isinstance(after, Part) else after
    with watching(jobs, progress) as watch:
        return Part(_native.sweep_part(sources, swept_policies(policies), (study, search), so_far, watch))


def swept_policies(policies: Policies | None) -> list[Any]:
    """Returns the policies of a sweep: those given, or the presets that the program sweeps."""
    named, functions = list_of_policies(_native.swept_policies() if policies is None else policies)
    if functions:
        raise _native.RecompactError(f"{', '.join(functions)}: a sweep changes settings, and a function has none: replay it")
    return named


def sweep_by_stages(stage: Callable[[bytes | None], Iterable[bytes]]) -> Results:
    """Makes a sweep on an engine. `stage` replays all transcripts in tasks: it takes the merged part so far, and gives the parts."""
    so_far, left = merge(stage(None)), None
    while (next_stage := so_far.next_stage) is not None:
        if next_stage == left:
            raise _native.RecompactError(f"the tasks did not replay all of a stage: {left}. Do they have the same transcripts?")
        left = next_stage
        so_far = merge([so_far, *stage(so_far.data)])
    return finish(so_far)


def sweep_batch(
    paths: Iterable[Any], contents: Iterable[Any] | None, policies: Policies | None, after: bytes | None, **settings: Any
) -> bytes:
    """Returns what a batch of an engine gives in the next stage of a sweep, on one thread."""
    return swept(_sources(paths, contents), policies, after, 1, None, settings).data


def replay_batch(
    paths: Iterable[Any],
    contents: Iterable[Any] | None,
    policies: Policies,
    *,
    rows: str | None = None,
    allow_programs: bool = False,
    on_error: OnError = "raise",
    **settings: Any,
) -> bytes:
    """Returns the part of a batch of an engine, on one thread: the engine has a task for each processor. Writes its rows to a folder."""
    given_policies = given(policies, allow_programs, on_error)
    part: bytes = _native.replay_part(_sources(paths, contents), given_policies, natural(settings), (1, None))
    if rows is not None:
        _rows.write(part, rows)
    return part


def _sources(paths: Iterable[Any], contents: Iterable[Any] | None) -> tuple[list[str], list[Content], bool]:
    names = [str(path) for path in paths]
    held = [] if contents is None else [(name, bytes(content)) for name, content in zip(names, contents)]
    return ([], held, False) if held else (names, [], True)
