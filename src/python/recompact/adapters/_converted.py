"""The messages of a library beside those of a request."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Literal

from .._alignment import tool_parts
from ..policy import Function, Message, PolicyFunction, Request

#: The calls and results in a message.
_Parts = tuple[tuple[str, str], ...]


class Converted:
    """Converts each message once, and finds it again when the library returns its object."""

    def __init__(self, to_library: Callable[[Message], Any], to_message: Callable[[Any], Message]) -> None:
        self._to_library, self._to_message = to_library, to_message
        self._objects: dict[int, tuple[Message, Any, _Parts]] = {}
        self._messages: dict[int, Message] = {}
        #: By their calls and results; made when a library first returns a new object.
        self._by_parts: dict[_Parts, Message] | None = None

    def objects(self, messages: Iterable[Message]) -> list[Any]:
        """Returns the objects of messages: the same ones at each call, so the library may remember something in them."""
        known, self._objects, self._by_parts = self._objects, {}, None
        for message in messages:
            held = known.get(id(message))
            if not held or held[0] is not message:
                held = (message, self._to_library(message), tuple(tool_parts(message)))
            self._objects[id(message)] = held
        self._messages = {id(made): message for message, made, _ in self._objects.values()}
        return [made for _, made, _ in self._objects.values()]

    def messages(self, objects: Iterable[Any]) -> list[Message]:
        """Returns the messages of objects. An object that the library made is a new message."""
        return [self._messages.get(id(made)) or self._new(made) for made in objects]

    def shown(self, objects: Iterable[Any]) -> list[Message]:
        """Returns the messages of those objects that the library was shown, as a summarizer of the study reads them."""
        return [self._messages[id(made)] for made in objects if id(made) in self._messages]

    def _new(self, made: Any) -> Message:
        if self._by_parts is None:
            self._by_parts = {parts: message for message, _, parts in reversed(self._objects.values())}
        message = self._to_message(made)
        parts = tuple(tool_parts(message))
        message = _completed(message, self._by_parts.get(parts, {})) if parts else message
        self._objects[id(message)] = (message, made, parts)
        return message


def _completed(message: Message, old: Message) -> Message:
    """Adds to a message with calls or results what the library was not shown: other fields, and images in results that it left alone."""

    def result(new: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
        return old if old and result_text(old) == result_text(new) else {**old, **new}

    if message["role"] == "tool":
        return result(message, old)
    content, old_content = message.get("content"), old.get("content")
    if isinstance(content, list) and isinstance(old_content, list):
        results = {block["tool_use_id"]: block for block in old_content if block["type"] == "tool_result"}
        blocks = [result(block, results.get(block.get("tool_use_id"), {})) for block in content]
        return {**old, **message, "content": blocks}
    if isinstance(old_content, list) and content == "".join(part.get("text", "") for part in old_content):
        return {**old, **message, "content": old_content}
    return {**old, **message}


def adapter(
    name: str,
    converted: tuple[Callable[[Message], Any], Callable[[Any], Message]],
    begin: Callable[[], Callable[[Request, list[Any], Converted], Iterable[Any] | None]],
    shape: Literal["anthropic", "openai"] = "openai",
) -> Function:
    """Returns a policy that gives the messages to a library as its objects. `begin` is called for each session."""

    def session() -> PolicyFunction:
        messages, edit = Converted(*converted), begin()

        def policy(request: Request) -> list[Message] | None:
            edited = edit(request, messages.objects(request.messages), messages)
            return None if edited is None else messages.messages(edited)

        return policy

    return Function(session, name, shape)


def text_of(message: Message) -> str:
    """Returns the text of a message, whose content may be a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if part.get("type") == "text")
    return content or ""


def blocks_of(message: Message) -> list[dict[str, Any]]:
    """Returns the content of a message in Anthropic's form as a list of blocks."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def result_text(block: dict[str, Any]) -> str:
    """Returns the text of a `tool_result` block."""
    content = block.get("content")
    return content if isinstance(content, str) else text_of(block)


def finished(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Returns the result of code that is `async` and waits for nothing, as most compaction does."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    coroutine.close()
    raise RuntimeError("it waits for something, which code in a replay cannot")
