"""The messages that a policy was shown, and what it made of them in place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from operator import is_
from typing import Any, NamedTuple

#: Writes a part of an answer. JSON has no NaN.
written = json.JSONEncoder(allow_nan=False).encode

#: A message in Anthropic's or OpenAI's form, a dict with `role` and `content`.
Message = dict[str, Any]


#: This number of messages is compared at once.
SLICE = 32


class Entry:
    """A message that a policy was shown."""

    __slots__ = ("id", "message", "pristine", "copy", "is_part")

    def __init__(self, id: int | None, message: Message, is_part: bool = False) -> None:
        #: None: it was inserted, and gets its id with the next request.
        self.id = id
        #: The object that the policy gets, the same at each call.
        self.message = message
        #: Copies a message of this form.
        self.copy = _copier(message)
        #: Its content as it was shown, to notice a change in place.
        self.pristine = self.copy(message)
        #: It and another one were one message of the transcript.
        self.is_part = is_part or bool(message.get("continues"))

    def written(self) -> str:
        """Returns the changed message as an answer has it."""
        return written({**self.message, "replaces": [self.id]})

    def stays_in_place(self, changed: Message) -> bool:
        """Its change fits those of other messages: it is a message as before, all of one of the transcript or a result, which is one block."""
        role = self.pristine["role"]
        return changed.get("role") == role and (not self.is_part or role == "tool")


class _Change(NamedTuple):
    """A value that the last answer for one request changed in place. The message has the value of before again."""

    #: Position of the message.
    at: int
    #: The message or a block of it.
    holder: dict[str, Any]
    key: str
    before: Any
    #: What `before` must be, which may be a list.
    pristine: Any
    #: Where the block is in its message.
    content: list[Any] | None
    place: int


class Entries:
    """The messages of a session, in their order."""

    def __init__(self) -> None:
        self.all: list[Entry] = []
        #: Their objects that the policy gets.
        self._messages: list[Message] = []
        #: Their contents by the last answer for one request; the pristine one if that left a message as it was.
        self._said: list[Message] = []
        self._pristine: list[Message] = []
        #: The changes that the policy is expected to make again; of messages in `_copied` these are not known.
        self._expected: list[_Change] = []
        #: The positions of its messages.
        self._edited: set[int] = set()
        self._copied: set[int] = set()
        #: The texts of those that it changed in place, by their positions.
        self._texts: dict[int, str] = {}
        #: Whether further changes fit its changes.
        self._stay_in_place = True
        #: Those that the last answer inserted in the history.
        self._inserted: list[Entry] = []

    def take_in(self, asked: Mapping[str, Any]) -> None:
        """Takes in what is new since the last request."""
        for entry, id in zip(self._inserted, asked["inserted"]):
            entry.id = id
        if asked["gone"] or asked["changed"]:
            changed = {message.pop("id"): message for message in asked["changed"]}
            gone = set(asked["gone"])
            left = [entry for entry in self.all if entry.id not in gone]
            self.become([Entry(e.id, changed[e.id], e.is_part) if e.id in changed else e for e in left], [])
        for message in asked["messages"]:
            entry = Entry(message.pop("id"), message)
            if entry.is_part and self.all:
                self.all[-1].is_part = True
            self.all.append(entry)
            self._messages.append(entry.message)
            self._said.append(entry.pristine)
            self._pristine.append(entry.pristine)

    def messages(self) -> list[Message]:
        """Returns the messages for the policy."""
        return self._messages.copy()

    def of(self, messages: Iterable[Message]) -> list[Entry]:
        """Returns which ones these are. A copy is the first that it equals."""
        by_object = {id(entry.message): entry for entry in self.all}
        found = []
        for at, message in enumerate(messages):
            entry = by_object.get(id(message)) or next((entry for entry in self.all if entry.pristine == message), None)
            if entry is None:
                kind = message.get("role") if isinstance(message, dict) else type(message).__name__
                raise ValueError(f"summarize: the message at {at} ({kind}) is none of the request; a text of yours belongs in the prompt")
            found.append(entry)
        return found

    def are_in_place(self, returned: list[Message]) -> bool:
        """Returns whether all are returned in their order, as at most requests. They need no alignment."""
        return len(self._messages) == len(returned) and all(map(is_, self._messages, returned))

    def change(self) -> list[str]:
        """Takes in what was changed in place, from now on. Returns these messages as the answer has them."""
        if self._texts:
            self.become(self.all, [])
        differ = _differing(self._messages, self._pristine)
        for at in differ:
            entry = self.all[at]
            self.all[at] = Entry(entry.id, entry.message, entry.is_part)
            self._said[at] = self._pristine[at] = self.all[at].pristine
        self._inserted = []
        return [self.all[at].written() for at in differ]

    def change_request(self, again: bool) -> tuple[bool, list[str]]:
        """Undoes what was changed in place, for one request. Returns whether the answer goes on from the last one, which it may do if
        `again` is set, and the messages that it then has to name, as it has them."""
        # A long session spends most of its time here. Most changes are those of the call before, which are known.
        differ = _differing(self._messages, self._said)
        fit = (at not in self._texts and self.all[at].stays_in_place(self._messages[at]) for at in differ)
        goes_on = again and self._stay_in_place and all(fit)
        self._say(differ)
        self._undo(differ)
        if not goes_on:
            self._texts = dict(sorted(self._texts.items()))
            self._stay_in_place = all(self.all[at].stays_in_place(self._said[at]) for at in self._texts)
        self._inserted = []
        return goes_on, [self._texts[at] for at in differ] if goes_on else list(self._texts.values())

    def _say(self, differ: list[int]) -> None:
        """Takes in messages that are not as the last answer had them."""
        for at in differ:
            entry = self.all[at]
            if entry.message == entry.pristine:
                self._said[at] = entry.pristine
                del self._texts[at]
            else:
                self._said[at], self._texts[at] = _copy(entry.message), entry.written()

    def _undo(self, differ: list[int]) -> None:
        """Makes all messages what they were. Those that the policy changed otherwise than at the last call are copied."""
        if not self._edited.isdisjoint(differ):
            self._expected = [change for change in self._expected if change.at not in differ]
            self._edited.difference_update(differ)
        messages, others = self._messages, set[int]()
        for at, holder, key, before, pristine, content, place in self._expected:
            # A block may be another object than at the last call with the same content, and a list may have changed before it was replaced.
            if content is not None and (messages[at]["content"] is not content or content[place] is not holder) or before != pristine:
                others.add(at)
            holder[key] = before
        if others:
            self._expected = [change for change in self._expected if change.at not in others]
            self._edited -= others
            self._copied |= others
        for at in self._copied.union(differ):
            if at not in self._texts:
                self._copied.discard(at)
                continue
            entry = self.all[at]
            entry.message = messages[at] = entry.copy(entry.pristine)
            changes = _changes(at, self._said[at], entry.pristine, entry.message) if at in differ else None
            if changes is None:
                self._copied.add(at)
            else:
                self._copied.discard(at)
                self._expected += changes
                self._edited.add(at)

    def become(self, entries: list[Entry], inserted: list[Entry]) -> None:
        """Takes in what the policy made of the history, and which messages are new in it."""
        self.all, self._inserted, self._texts = entries, inserted, {}
        self._messages = [entry.message for entry in entries]
        self._pristine = [entry.pristine for entry in entries]
        self._said = self._pristine.copy()
        self._expected, self._edited, self._copied = [], set(), set()

    def restore(self) -> None:
        """Undoes what was changed in place."""
        for at in _differing(self._messages, self._pristine):
            entry = self.all[at]
            entry.message = self._messages[at] = entry.copy(entry.pristine)


def _differing(messages: list[Message], others: list[Message]) -> list[int]:
    """Returns the positions at which two lists differ, in their order. Slices are compared faster than single messages."""
    size = len(messages)
    parts = (range(begin, min(begin + SLICE, size)) for begin in range(0, size, SLICE))
    unequal = (part for part in parts if messages[part.start : part.stop] != others[part.start : part.stop])
    return [at for part in unequal for at in part if messages[at] != others[at]]


def _changes(
    at: int, said: dict[str, Any], pristine: dict[str, Any], own: dict[str, Any], content: list[Any] | None = None, place: int = 0
) -> list[_Change] | None:
    """Returns which values differ in what was said, in `own`, which is as the pristine one; None if a field is new or gone."""
    if said.keys() != pristine.keys():
        return None
    found: list[_Change] = []
    for key, value in said.items():
        before = pristine[key]
        if value == before:
            continue
        if key == "content" and isinstance(value, list) and isinstance(before, list) and len(value) == len(before):
            blocks = enumerate(zip(value, before, own[key]))
            parts = [_changes(at, *of, own[key], place) for place, of in blocks] if _are_dicts(value) and _are_dicts(before) else [None]
            if None not in parts:
                found += [change for part in parts for change in part or ()]
                continue
        found.append(_Change(at, own, key, own[key], before, content, place))
    return found


def _are_dicts(blocks: list[Any]) -> bool:
    return all(isinstance(block, dict) for block in blocks)


def _copier(message: Message) -> Callable[[Message], Message]:
    """Returns what copies the lists and dicts of a message, and shares the texts in them."""
    if not any(isinstance(value, (dict, list)) for value in message.values()):
        return dict.copy
    content = message.get("content")
    is_flat = isinstance(content, list) and all(isinstance(block, dict) and not _holds_more(block) for block in content)
    return _copy_blocks if is_flat and sum(isinstance(value, (dict, list)) for value in message.values()) == 1 else _copy


def _holds_more(block: dict[str, Any]) -> bool:
    return any(isinstance(value, (dict, list)) for value in block.values())


def _copy_blocks(message: Message) -> Message:
    copy = message.copy()
    content = copy["content"]
    copy["content"] = [content[0].copy()] if len(content) == 1 else list(map(dict.copy, content))
    return copy


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(inner) if isinstance(inner, (dict, list)) else inner for key, inner in value.items()}
    if isinstance(value, list):
        return [_copy(inner) if isinstance(inner, (dict, list)) else inner for inner in value]
    return value
