"""The messages that a policy was shown, and what it made of them in place."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import compress
from operator import is_, ne
from typing import Any

#: A message in Anthropic's or OpenAI's form, a dict with `role` and `content`.
Message = dict[str, Any]


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
        return json.dumps({**self.message, "replaces": [self.id]})

    @property
    def stays_in_place(self) -> bool:
        """Its change fits those of other messages: it is a message as before, all of one of the transcript or a result, which is one block."""
        role = self.pristine["role"]
        return self.message.get("role") == role and (not self.is_part or role == "tool")


class Entries:
    """The messages of a session, in their order."""

    def __init__(self) -> None:
        self.all: list[Entry] = []
        #: Their objects that the policy gets.
        self._messages: list[Message] = []
        #: Their contents by the last answer for one request; the pristine one if that left a message as it was.
        self._said: list[Message] = []
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

    def messages(self) -> list[Message]:
        """Returns the messages for the policy."""
        return self._messages.copy()

    def are_in_place(self, returned: list[Message]) -> bool:
        """Returns whether all are returned in their order, as at most requests. They need no alignment."""
        return len(self._messages) == len(returned) and all(map(is_, self._messages, returned))

    def change(self) -> list[str]:
        """Takes in what was changed in place, from now on. Returns these messages as the answer has them."""
        changed = self._changed()
        made = {id(entry): Entry(entry.id, entry.message, entry.is_part) for entry in changed}
        if changed or self._texts:
            self.become([made.get(id(entry), entry) for entry in self.all], [])
        self._inserted = []
        return [entry.written() for entry in changed]

    def change_request(self, again: bool) -> tuple[bool, list[str]]:
        """Undoes what was changed in place, for one request. Returns whether the answer goes on from the last one, which it may do if
        `again` is set, and the messages that it then has to name, as it has them."""
        differ = list(compress(range(len(self.all)), map(ne, self._messages, self._said)))
        goes_on = again and self._stay_in_place
        goes_on = goes_on and all(at not in self._texts and self.all[at].stays_in_place for at in differ)
        for at in differ:
            entry = self.all[at]
            if entry.message == entry.pristine:
                self._said[at] = entry.pristine
                del self._texts[at]
            else:
                self._said[at], self._texts[at] = _copy(entry.message), entry.written()
        if not goes_on:
            self._texts = dict(sorted(self._texts.items()))
            self._stay_in_place = all(self.all[at].stays_in_place for at in self._texts)
        # A long session spends most of its time here.
        entries, messages = self.all, self._messages
        for at in self._texts:
            entry = entries[at]
            entry.message = messages[at] = entry.copy(entry.pristine)
        self._inserted = []
        return goes_on, [self._texts[at] for at in differ] if goes_on else list(self._texts.values())

    def become(self, entries: list[Entry], inserted: list[Entry]) -> None:
        """Takes in what the policy made of the history, and which messages are new in it."""
        self.all, self._inserted, self._texts = entries, inserted, {}
        self._messages = [entry.message for entry in entries]
        self._said = [entry.pristine for entry in entries]

    def restore(self) -> None:
        """Undoes what was changed in place."""
        for entry in self._changed():
            entry.message = entry.copy(entry.pristine)
        self._messages = [entry.message for entry in self.all]

    def _changed(self) -> list[Entry]:
        if self._texts:
            return [entry for entry in self.all if entry.message != entry.pristine]
        return list(compress(self.all, map(ne, self._messages, self._said)))


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
