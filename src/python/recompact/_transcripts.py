"""Conversations as plain messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import _native
from ._entries import Message
from ._settings import READING, only, takes
from ._watching import Paths, Progress, finished, list_of, watching

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import Reading


@dataclass(frozen=True)
class Conversation:
    """A recorded conversation of one agent. A session and each of its sub-agents are conversations of their own."""

    #: The file that holds it.
    transcript: str
    #: Its name, unique within its transcript: `main`, `agent-a881341`.
    name: str
    #: A session and its sub-agents have the same.
    session: str
    #: The id of the transcript's format: `claude-code`.
    format: str
    #: The model that answered most of its calls, if the record names one.
    model: str | None
    #: Working directory, as recorded.
    project: str | None
    #: Time of the first message in UTC: `2026-10-01T08:00:00Z`.
    started: str | None
    #: System prompt, if the transcript contains it.
    system: str | None
    #: The largest context window that the record names, in tokens.
    window: int | None
    #: Indices of the messages that the model answered with.
    responses: list[int] = field(repr=False)
    #: All messages in Anthropic's form, as if nothing had been compacted.
    messages: list[Message] = field(repr=False)

    def requests(self) -> Iterator[list[Message]]:
        """The messages of each recorded call, as they would be without compaction."""
        return (self.messages[:response] for response in self.responses if response)


@takes(*READING)
def read(
    paths: Paths, *, jobs: int | None = None, progress: bool | Progress | None = None, **settings: Unpack[Reading]
) -> list[Conversation]:
    """Reads the conversations of transcripts, in any known format.

    >>> import recompact
    >>> [conversation] = recompact.read("fixtures/transcripts/codex/repair.jsonl")
    >>> conversation.model, len(conversation.messages)
    ('gpt-5.3-codex', 186)
    >>> conversation.messages[1]["content"][-1]["name"]
    'update_plan'
    """
    with watching(jobs, progress) as watch:
        found, skipped = _native.read(list_of(paths), only(READING, settings), watch)
    return finished(skipped, [Conversation(**conversation) for conversation in found])
