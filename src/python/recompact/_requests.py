"""One request of a replay, and what changed between two results."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _arguments, _native
from ._calls import without_running_loop
from ._policies import OnError, Policy, given
from ._results import Results, Rows
from ._settings import Settings, natural, takes
from ._watching import list_of, watching
from .policy import Message

if TYPE_CHECKING:
    from typing_extensions import Unpack


class ShownRequest(Rows):
    """One request. `rows` has a dict for each part: what the model gets, and in between what was recorded and is not sent any more."""

    _list = "parts"

    def __init__(self, document: _native.Document, messages: list[Message]) -> None:
        super().__init__(document)
        #: The messages as they are sent, as Anthropic's Messages API has them.
        self.messages = messages

    @property
    def changed(self) -> list[dict[str, Any]]:
        """The rows that are not as they were recorded: rewritten, put in, or removed."""
        return [row for row in self.rows if row["state"] != "recorded"]


@takes(*Settings.__annotations__)
def show(
    path: str | os.PathLike[str],
    policy: Policy = "recorded",
    *,
    call: int | None = None,
    conversation: str | None = None,
    allow_programs: bool = False,
    **settings: Unpack[Settings],
) -> ShownRequest:
    """Shows one request of a transcript under a policy: what is sent, and what was cleared, moved and summarised.

    `call` is its number, from 1; default: the last one. `conversation` is a name; default: the one with the most calls. Secrets are
    hidden unless `show_secrets` is set. The other arguments are those of `replay`.

    >>> import recompact
    >>> shown = recompact.show("fixtures/transcripts/codex/repair.jsonl", "lcc-s06", call=9)
    >>> len(shown.messages), shown.changed[0]["state"], shown.changed[0]["layer"]
    (17, 'rewritten', 'micro')
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path: the path of one transcript is needed, not {type(path).__name__}")
    wanted = (
        None if call is None else _arguments.count("call", call),
        None if conversation is None else _arguments.text("conversation", conversation),
    )
    on_error: OnError = "raise"
    shown_policy = given([policy], allow_programs, on_error)
    with watching(None, False) as watch, without_running_loop():
        document, messages = _native.show(list_of(path)[0], shown_policy, natural(settings), wanted, watch)
    return ShownRequest(document, messages)


class Changes(Rows):
    """What changed between two results. `rows` has a dict for each policy that is no bound."""

    _list = "policies"


def diff(before: Results, after: Results) -> Changes:
    """Compares two results by policy, column and conversation; conversations that only one of them has are left out and named.

    >>> import recompact
    >>> before, after = (recompact.replay("fixtures/transcripts/codex", "lcc-s06", window=window) for window in ("60k", "90k"))
    >>> [change["policy"] for change in recompact.diff(before, after).rows]
    ['lcc-s06', 'recorded']
    """
    for name, results in (("before", before), ("after", after)):
        if not isinstance(results, Results):
            raise TypeError(f"{name}: the results of a replay or a sweep are needed, not {type(results).__name__}; load reads saved ones")
    return Changes(_native.diff(before._native, after._native))
