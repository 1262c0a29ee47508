"""What a call says beside its result: how far it is, and what it skipped."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, Union

from . import _arguments

#: One path, or several: a file, a folder (searched for transcripts), or a pattern.
Paths = Union[str, os.PathLike[str], Iterable[Union[str, os.PathLike[str]]]]

#: Called with the bytes that are done, the bytes of all transcripts, and the number of replayed calls.
Progress = Callable[[int, int, int], Any]

#: Number of files that a warning names.
NAMED = 3


Result = TypeVar("Result")


class RecompactWarning(UserWarning):
    """Something was skipped, or is unusual; the rest was analysed."""

    #: What the call would have returned, if warnings are raised as errors.
    result: Any = None


def list_of(paths: Paths) -> list[str]:
    """Returns one path or several as a list."""
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    if isinstance(paths, (bytes, bytearray)) or not isinstance(paths, Iterable):
        raise TypeError(f"paths: one path or several are needed, not {type(paths).__name__}")
    return [_arguments.path("paths", path) for path in paths]


@contextmanager
def watching(jobs: int | None, progress: bool | Progress | None) -> Iterator[tuple[int | None, Progress | None]]:
    """Shows a progress bar while a call works, if `tqdm` is installed and there is somebody to see it."""
    threads = None if jobs is None else _arguments.count("jobs", jobs)
    with _bar(progress) as shown:
        yield threads, shown


@contextmanager
def _bar(progress: bool | Progress | None) -> Iterator[Progress | None]:
    if callable(progress):
        yield progress
        return
    if progress is not None and not isinstance(progress, bool):
        raise TypeError(f"progress: True, False, None or a function is needed, not {progress!r}")
    is_seen = sys.stderr is not None and sys.stderr.isatty() or "ipykernel" in sys.modules
    if progress is False or (progress is None and not is_seen):
        yield None
        return
    try:
        from tqdm.auto import tqdm
    # Without widgets, tqdm warns of it, which may be an error.
    except (ImportError, Warning):
        if progress:
            raise
        yield None
        return
    with tqdm(unit="B", unit_scale=True, leave=False, delay=0.5) as bar:

        def show(done: int, total: int, calls: int) -> None:
            bar.total = total
            if calls:
                bar.set_postfix_str(f"{calls:,} calls replayed", refresh=False)
            bar.update(done - bar.n)

        yield show


#: What a part says: the rest is said by `finish`.
NOTHING_SKIPPED: dict[str, Sequence[str]] = {"transcripts": (), "lines": (), "notes": (), "files": ()}


def finished(skipped: dict[str, Sequence[str]], result: Result) -> Result:
    """Warns of what a call skipped, and returns its result: each line and each transcript by itself, files that are no transcripts together.

    If warnings are errors, the result is the `result` of the first one: the work is done.
    """

    def say(message: str) -> None:
        try:
            warnings.warn(message, RecompactWarning, stacklevel=4)
        except RecompactWarning as warning:
            warning.result = result
            raise

    for message in [*skipped["transcripts"], *skipped["lines"], *skipped["notes"]]:
        say(message)
    files = skipped["files"]
    if files:
        names = ", ".join(file.split(": ", 1)[0] for file in files[:NAMED])
        more = f" and {len(files) - NAMED} more" if len(files) > NAMED else ""
        count = "1 file is" if len(files) == 1 else f"{len(files)} files are"
        say(f"{count} no transcript in a known format and skipped: {names}{more}")
    return result
