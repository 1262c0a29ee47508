"""Whether two policies send the same requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from . import _native
from ._calls import without_running_loop
from ._policies import OnError, Policy, given
from ._settings import Settings, natural, takes
from ._watching import Paths, Progress, finished, list_of, watching
from .policy import Message

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Difference(NamedTuple):
    """The first call of a conversation at which two policies send different requests."""

    transcript: str
    conversation: str
    #: Number of the call, from 1.
    call: int
    #: The messages under the first policy, as Anthropic's Messages API has them; empty if it sends nothing.
    one: list[Message]
    #: The messages under the other policy.
    other: list[Message]


@dataclass(frozen=True)
class Comparison:
    """Where the requests of two policies differ; it is true if all are the same."""

    #: Number of compared conversations.
    conversations: int
    #: Number of compared requests.
    requests: int
    #: The first difference of each conversation that has one.
    differences: list[Difference]

    def __bool__(self) -> bool:
        return not self.differences


@takes(*Settings.__annotations__)
def compare(
    paths: Paths,
    one: Policy,
    other: Policy,
    *,
    allow_programs: bool = False,
    on_error: OnError = "raise",
    jobs: int | None = None,
    progress: bool | Progress | None = None,
    **settings: Unpack[Settings],
) -> Comparison:
    """Compares the requests of two policies, block by block: the test that code which you moved or changed does what it did.

    The arguments are those of `replay`. Messages with one role that follow each other count as one message, as to a provider.

    >>> import recompact
    >>> comparison = recompact.compare("fixtures/transcripts/codex", "lcc-s06", lambda request: None)
    >>> bool(comparison), comparison.requests, comparison.differences[0].call
    (False, 93, 4)
    """
    compared = given([one, other], allow_programs, on_error)
    with watching(jobs, progress) as watch, without_running_loop():
        found, skipped = _native.compare(list_of(paths), compared, natural(settings), watch)
    conversations, requests, differences = found
    comparison = Comparison(conversations, requests, [Difference(*difference) for difference in differences])
    return finished(skipped, comparison)
