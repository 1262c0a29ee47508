"""Inspections, audits and gates."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import _arguments, _native
from ._results import Rows
from ._settings import AUDITING, INSPECTING, only, takes
from ._watching import Paths, Progress, finished, list_of, watching

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import Auditing, Inspecting


class InspectReport(Rows):
    """What transcripts hold. `rows` has a dict for each conversation."""

    _list = "conversations"


class AuditReport(Rows):
    """What is wrong with transcripts. `rows` has a dict for each finding."""

    _list = "findings"


class CheckReport(Rows):
    """What a gate decided. `rows` has a dict for each rule of each policy."""

    _list = "verdicts"

    def __init__(self, document: _native.Document, passed: bool, problems: list[str]) -> None:
        super().__init__(document)
        #: Whether every rule holds, and nothing prevented a verdict.
        self.passed = passed
        #: What prevented a verdict.
        self.problems = problems

    def __bool__(self) -> bool:
        return self.passed


@takes(*INSPECTING)
def inspect(
    paths: Paths, *, jobs: int | None = None, progress: bool | Progress | None = None, **settings: Unpack[Inspecting]
) -> InspectReport:
    """Shows what transcripts hold: calls, tokens by kind, growth, largest results, recorded compactions.

    >>> import recompact
    >>> inspection = recompact.inspect("fixtures/transcripts/codex/repair.jsonl")
    >>> inspection.rows[0]["calls"]
    93
    """
    with watching(jobs, progress) as watch:
        document, skipped = _native.inspect(list_of(paths), only(INSPECTING, settings), watch)
    return finished(skipped, InspectReport(document))


@takes(*AUDITING)
def audit(
    paths: Paths,
    *,
    root: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool | Progress | None = None,
    **settings: Unpack[Auditing],
) -> AuditReport:
    """Finds what is wrong with saved transcripts and the compactions recorded in them. Changes nothing.

    `root` is the folder with the outputs and archives that transcripts name; default: the folders of the paths.

    >>> import recompact
    >>> sorted({finding["id"] for finding in recompact.audit("fixtures/audit/damaged").rows})
    ['gap', 'overwrite', 'secret', 'spilled']
    """
    with watching(jobs, progress) as watch:
        document, skipped = _native.audit(
            list_of(paths), None if root is None else _arguments.path("root", root), only(AUDITING, settings), watch
        )
    return finished(skipped, AuditReport(document))


def check(
    suites: str | os.PathLike[str] = "recompact.toml",
    *,
    allow_programs: bool = False,
    jobs: int | None = None,
    progress: bool | Progress | None = None,
) -> CheckReport:
    """Checks suites of policies and transcripts against limits and a committed baseline. The report is true if all rules hold.

    A suite whose policies are programs needs `allow_programs`.

    >>> import recompact
    >>> report = recompact.check("fixtures/gate/recompact.toml")
    >>> report.passed, report.problems
    (True, [])
    """
    with watching(jobs, progress) as watch:
        passed, problems, document = _native.check(_arguments.path("suites", suites), _arguments.flag("allow_programs", allow_programs), watch)
    return CheckReport(document, passed, problems)
