"""Finds out what a policy did: which messages it kept, changed, replaced, inserted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ._entries import Entry, Message


@dataclass
class Item:
    """A message that a policy returned."""

    message: Message
    #: The messages that it takes the place of.
    replaces: list[Entry] = field(default_factory=list)
    #: It is that message as it was.
    is_kept: bool = False

    @property
    def is_insertion(self) -> bool:
        return not self.replaces

    def listed(self) -> int | Message | None:
        """Returns the message as an answer has it."""
        if self.is_kept:
            return self.replaces[0].id
        if not self.replaces:
            return self.message
        return {**self.message, "replaces": [entry.id for entry in self.replaces]}

    def entry(self) -> Entry:
        """Returns the message as it will be shown from now on."""
        if self.is_kept:
            return self.replaces[0]
        is_part = any(entry.is_part for entry in self.replaces)
        return Entry(self.replaces[0].id if self.replaces else None, self.message, is_part)


def aligned(entries: list[Entry], returned: Iterable[Message]) -> list[Item]:
    """Returns for each returned message which messages it is, or takes the place of."""
    positions = {id(entry.message): at for at, entry in enumerate(entries)}
    items: list[Item] = []
    new: list[Message] = []
    next_at = 0
    seen: dict[int, int] = {}
    for place, message in enumerate(returned):
        first = seen.setdefault(id(message), place)
        if first != place:
            role = message.get("role") if isinstance(message, dict) else None
            raise ValueError(f"a policy returns each message once; this one returned a message ({role}) at {first} and at {place}")
        at = positions.get(id(message))
        if at is None:
            if not isinstance(message, dict):
                raise TypeError(f"a policy returns messages, which are dicts; this one returned {type(message).__name__}")
            new.append(message)
            continue
        if new:
            items += _between(new, entries[next_at:at])
            new = []
        entry = entries[at]
        items.append(Item(message, [entry], message == entry.pristine))
        next_at = at + 1
    return items + _between(new, entries[next_at:]) if new else items


def _between(new: list[Message], missing: list[Entry]) -> list[Item]:
    """Aligns messages that the policy made with the messages that are missing where these are."""
    if len(new) == len(missing) == 1:
        return [Item(new[0], missing, new[0] == missing[0].pristine)]
    head = 0
    while head < min(len(new), len(missing)) and new[head] == missing[head].pristine:
        head += 1
    tail = 0
    while tail < min(len(new), len(missing)) - head and new[-1 - tail] == missing[-1 - tail].pristine:
        tail += 1
    same = [Item(message, [entry], True) for message, entry in zip(new[:head], missing)]
    end = [Item(message, [entry], True) for message, entry in zip(new[len(new) - tail :], missing[len(missing) - tail :])]
    return same + _by_calls(new[head : len(new) - tail], missing[head : len(missing) - tail]) + end


def _by_calls(new: list[Message], missing: list[Entry]) -> list[Item]:
    """Aligns by the ids of tool calls: these say which message a changed one was."""
    holders = {part: at for at, entry in enumerate(missing) for part in tool_parts(entry.pristine)}
    items: list[Item] = []
    waiting: list[Message] = []
    next_at = 0
    for message in new:
        found = sorted({holders[part] for part in tool_parts(message) if part in holders})
        if not found or found[0] < next_at:
            waiting.append(message)
            continue
        items += _one_by_one(waiting, missing[next_at : found[0]])
        waiting = []
        items.append(Item(message, [missing[at] for at in found]))
        next_at = found[-1] + 1
    return items + _one_by_one(waiting, missing[next_at:])


def _one_by_one(new: list[Message], missing: list[Entry]) -> list[Item]:
    """As many messages with the same roles are these messages; else the first takes the place of all that is missing."""
    if len(new) == len(missing) and all(a.get("role") == b.pristine.get("role") for a, b in zip(new, missing)):
        return [Item(message, [entry]) for message, entry in zip(new, missing)]
    return [Item(message, missing if at == 0 else []) for at, message in enumerate(new)]


def tool_parts(message: Message) -> list[tuple[str, str]]:
    """Returns the calls and results in a message, in either form."""
    parts = [("call", call["id"]) for call in message.get("tool_calls") or ()]
    if message.get("role") == "tool":
        parts.append(("result", message["tool_call_id"]))
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if block.get("type") == "tool_use":
            parts.append(("call", block["id"]))
        elif block.get("type") == "tool_result":
            parts.append(("result", block["tool_use_id"]))
    return parts
