"""The messages of a library beside those of a request."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Literal

from .._alignment import tool_parts
from ..policy import Function, Message, Policy, Request


class Converted:
    """Converts each message once, and finds it again when the library returns its object."""

    def __init__(self, to_library: Callable[[Message], Any], to_message: Callable[[Any], Message]) -> None:
        self._to_library, self._to_message = to_library, to_message
        self._objects: dict[int, tuple[Message, Any]] = {}
        self._messages: dict[int, Message] = {}

    def objects(self, messages: Iterable[Message]) -> list[Any]:
        """Returns the objects of messages: the same ones at each call, so the library may remember something in them."""
        known, self._objects = self._objects, {}
        for message in messages:
            pair = known.get(id(message))
            self._objects[id(message)] = pair if pair and pair[0] is message else (message, self._to_library(message))
        self._messages = {id(made): message for message, made in self._objects.values()}
        return [made for _, made in self._objects.values()]

    def messages(self, objects: Iterable[Any]) -> list[Message]:
        """Returns the messages of objects. An object that the library made is a new message."""
        return [self._messages.get(id(made)) or self._new(made) for made in objects]

    def _new(self, made: Any) -> Message:
        message = self._to_message(made)
        parts = tool_parts(message)
        # Of a message with calls or a result, fields that the library does not know stay as they were.
        old = next((old for old, _ in self._objects.values() if parts and tool_parts(old) == parts), {})
        message = {**old, **message}
        self._objects[id(message)] = (message, made)
        return message


def adapter(
    name: str,
    converted: tuple[Callable[[Message], Any], Callable[[Any], Message]],
    begin: Callable[[], Callable[[Request, list[Any], Converted], Iterable[Any] | None]],
    shape: Literal["anthropic", "openai"] = "openai",
) -> Function:
    """Returns a policy that gives the messages to a library as its objects. `begin` is called for each session."""

    def session() -> Policy:
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
