"""Policies that are Python code: functions in this process, and programs.

A policy takes a `Request` and returns the messages to send:

>>> def newest_20(request):
...     return request.messages[-20:]
>>> import recompact
>>> results = recompact.replay("fixtures/transcripts/codex", [newest_20, "lcc-s06"])
>>> results.total("newest_20", "tokens.saved") > 0.5
True

Messages keep their identity: a message that is returned as it was given stays the same message. One that was changed, in place or
in a copy, is the same message with another content, and a new one takes the place of those that are missing where it is. So every
measure knows what became of each fact.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, get_args

from . import _arguments
from ._alignment import Item, aligned
from ._entries import Entries, written
from ._entries import Message as Message

__all__ = ["Function", "Message", "NoSummary", "PolicyFunction", "Request", "Scope", "Shape", "function", "serve"]

#: How long the changes of a policy last.
Scope = Literal["state", "request"]


@dataclass(slots=True)
class Request:
    """A request that a policy may change before it is sent."""

    #: All messages as they are now, the newest last. Returning another list changes the history from now on.
    messages: list[Message] = field(repr=False)
    #: Number of the call in its session, from 1.
    call: int
    #: Tokens of the request if nothing is changed, with the overhead.
    estimate: int
    #: Tokens of the request before, as it was sent; None for the first. A harness reads it as the input tokens of the last answer.
    last_read: int | None
    #: Context window in tokens.
    window: int
    #: Tokens of the system prompt and the tools, which are in every request and in no message.
    overhead: int
    #: Name of the conversation in its transcript.
    session: str
    #: Format of the transcript.
    format: str
    #: Yours; it is empty when a session begins.
    state: dict[str, Any] = field(repr=False)
    #: `request`: the changes are for this request only. Set it to that for a view that is made anew for each request.
    scope: Scope = "state"
    #: Files that the policy would write: `{"path": …, "text": …, "tool_use_id": …}`, of which the last two may be left out.
    files: list[dict[str, Any]] = field(default_factory=list, repr=False)
    _summaries: list[str | Exception] = field(default_factory=list, repr=False)
    _asked: int = field(default=0, repr=False)

    def summarize(self, messages: Iterable[Message], prompt: str, *, system: str = "", max_tokens: int = 2_000) -> str:
        """Returns a summary of some of the messages, which the summarizer of the study writes and which is counted as its own.

        The placeholder `{conversation}` in the prompt is replaced by the messages; without it they follow the prompt. **The policy is
        called again from its beginning** when the summary is there, so it must do the same until then. Raises `NoSummary` if the
        summarizer has none.
        """
        self._asked += 1
        if not (isinstance(prompt, str) and isinstance(system, str)):
            raise TypeError("summarize: the prompt and the system prompt are texts")
        if self._asked > len(self._summaries):
            if not _is_list(messages):
                raise TypeError(f"summarize: messages of the request are needed, not {type(messages).__name__}")
            raise _Ask(list(messages), prompt, system, _arguments.count("summarize: max_tokens", max_tokens))
        summary = self._summaries[self._asked - 1]
        if isinstance(summary, Exception):
            raise summary
        return summary


class NoSummary(Exception):
    """The summarizer of the study wrote no summary; the message says why."""


class _Ask(BaseException):
    """Ends a policy that needs a summary first. No policy should catch it, so it is no `Exception`."""


class PolicyFunction(Protocol):
    """A policy of one session: returns the messages to send, or None for `request.messages` as it is now."""

    def __call__(self, request: Request, /) -> Iterable[Message] | None: ...


#: `anthropic`: results of tools are blocks of a user message. `openai`: each result is a message with the role `tool`.
Shape = Literal["anthropic", "openai"]


@dataclass(frozen=True)
class Function:
    """A policy in Python with its name, the form of its messages, a beginning for each session, and a time limit."""

    #: Called without arguments for each session; returns the policy of the session.
    begin: Callable[[], PolicyFunction]
    name: str
    shape: Shape = "anthropic"
    #: Seconds for each answer; None: 30, as for programs.
    timeout: int | None = None

    def open(self) -> Callable[[bytes], str]:
        """Begins a session. Returns what answers its lines, which are those of the protocol for programs."""
        return _Session(self).answer


@dataclass(frozen=True)
class _Always:
    """Begins each session with the same policy."""

    policy: PolicyFunction

    def __call__(self) -> PolicyFunction:
        return self.policy


def function(
    policy: PolicyFunction | type[PolicyFunction] | Function, name: str | None = None, *, shape: Shape | None = None, timeout: int | None = None
) -> Function:
    """Gives a policy another name, messages in OpenAI's form, or another time limit than 30 seconds for each answer.

    A class is called for each session, so it may hold state.

    >>> class Thrifty:
    ...     "Halves the history whenever it is over 60 % of the window."
    ...     def __call__(self, request):
    ...         if request.estimate > 0.6 * request.window:
    ...             return request.messages[len(request.messages) // 2:]
    >>> import recompact
    >>> mine = recompact.policy.function(Thrifty, "half", shape="openai")
    >>> recompact.replay("fixtures/transcripts/codex", mine, window=60_000).total("half", "failed_calls")
    0
    """
    if shape not in (None, *get_args(Shape)):
        raise ValueError(f"shape: write 'anthropic' or 'openai', not {shape!r}")
    name = None if name is None else _arguments.text("name", name)
    limit = None if timeout is None else _arguments.count("timeout", timeout)
    if not isinstance(policy, Function):
        if not callable(policy):
            raise TypeError(f"a function or a class is needed, not {type(policy).__name__}")
        called = inspect.getattr_static(policy if inspect.isclass(policy) else type(policy), "__call__", None)
        if any(map(inspect.iscoroutinefunction, (policy, called))) or any(map(inspect.isasyncgenfunction, (policy, called))):
            raise TypeError(f"{_name(policy)} is an `async def`: write a `def`, and call asyncio.run in it for what is asynchronous")
        begin: Callable[[], Any] = policy if inspect.isclass(policy) else _Always(policy)
        policy = Function(begin, _name(policy))
    return replace(policy, name=name or policy.name, shape=shape or policy.shape, timeout=limit or policy.timeout)


def _name(policy: PolicyFunction | type[PolicyFunction]) -> str:
    return str(getattr(policy, "__name__", type(policy).__name__))


def serve(policy: PolicyFunction | type[PolicyFunction] | Function, *, shape: Shape | None = None) -> None:
    """Answers as a program, for messages in this form: `recompact replay … -p 'mine=command:python mine.py'`."""
    answer, function_ = None, function(policy, shape=shape)
    for line in sys.stdin.buffer:
        if answer is None or b'"start"' in line[:40]:
            answer = function_.open()
        sys.stdout.write(answer(line) + "\n")
        sys.stdout.flush()


class _Session:
    """One session with a policy: remembers the messages that it was shown, and says what it changed."""

    def __init__(self, function: Function) -> None:
        self._policy, self._shape = function.begin(), function.shape
        self._entries = Entries()
        self._start: dict[str, Any] = {}
        self._state: dict[str, Any] = {}
        self._request: Request | None = None

    def answer(self, line: bytes) -> str:
        """Answers a line of the protocol."""
        asked = json.loads(line)
        kind = asked.pop("type")
        if kind == "start":
            self._start = {name: asked[name] for name in ("window", "overhead", "session", "format")}
            return json.dumps({"protocol": 1, "shape": self._shape})
        if kind == "request":
            self._entries.take_in(asked)
            self._summaries: list[str | Exception] = []
            self._asked = {name: asked[name] for name in ("call", "estimate", "last_read")}
            self._again: bool = asked["again"]
        else:
            self._summaries.append(asked["text"] if "text" in asked else NoSummary(asked["error"]))
            self._entries.restore()
        answer, replaced = self._ask_policy()
        text = written({"call": asked["call"], **answer})
        return f'{text[:-1]}, "replace": [{", ".join(replaced)}]}}' if replaced else text

    def _ask_policy(self) -> tuple[dict[str, Any], list[str]]:
        """Returns the answer, and as texts the messages that were changed in place."""
        request = Request(self._entries.messages(), **self._asked, **self._start, state=self._state, _summaries=self._summaries)
        try:
            # A generator runs when it is listed.
            returned = _listed(self._policy(request), request)
        except _Ask as ask:
            of, prompt, system, max_tokens = ask.args
            named = [entry.id for entry in self._entries.of(of)]
            return {"ask": {"of": named, "system": system, "prompt": prompt, "max_tokens": max_tokens}}, []
        if request.scope not in get_args(Scope):
            raise ValueError(f"scope: write 'state' or 'request', not {request.scope!r}")
        for_request = request.scope == "request"
        answer: dict[str, Any] = {"scope": request.scope} if for_request else {}
        replaced: list[str] = []
        if self._entries.are_in_place(returned) and for_request:
            goes_on, replaced = self._entries.change_request(self._again)
            if goes_on:
                answer["again"] = True
        elif self._entries.are_in_place(returned):
            replaced = self._entries.change()
        else:
            items = aligned(self._entries.all, returned)
            answer |= self._changes(items)
            if for_request:
                self._entries.restore()
                self._entries.become(self._entries.all, [])
            else:
                entries = [item.entry() for item in items]
                self._entries.become(entries, [entry for entry in entries if entry.id is None])
        if request.files:
            answer["files"] = [_file(file) for file in request.files]
        return answer, replaced

    def _changes(self, items: list[Item]) -> dict[str, Any]:
        """Returns the changes, or all messages if one is inserted, which then says where."""
        rest = iter(self._entries.all)
        is_ordered = all(any(entry is other for other in rest) for item in items for entry in item.replaces)
        if not is_ordered or any(item.is_insertion for item in items):
            return {"messages": [item.listed() for item in items]}
        named = {entry.id for item in items for entry in item.replaces}
        changes = {
            "drop": [entry.id for entry in self._entries.all if entry.id not in named],
            "replace": [item.listed() for item in items if not item.is_kept],
        }
        return {name: change for name, change in changes.items() if change}


def _listed(returned: Any, request: Request) -> list[Message]:
    """Returns what a policy answered as a list."""
    if inspect.iscoroutine(returned):
        returned.close()
        raise TypeError("a policy returns messages, and this one a coroutine: call asyncio.run in it for what is asynchronous")
    if returned is None:
        returned = request.messages
    if not _is_list(returned):
        raise TypeError(f"a policy returns a list of messages, or None; this one returned {type(returned).__name__}")
    return list(returned)


def _is_list(messages: Any) -> bool:
    return isinstance(messages, Iterable) and not isinstance(messages, (str, bytes, dict))


def _file(file: Any) -> dict[str, Any]:
    if not (isinstance(file, dict) and "path" in file and file.keys() <= {"path", "text", "tool_use_id"}):
        raise TypeError('files: dicts as {"path": …, "text": …, "tool_use_id": …} are needed, of which the last two may be left out')
    texts = {name: _arguments.text(f"files: {name}", value) for name, value in file.items() if name != "path"}
    return {"path": _arguments.path("files: path", file["path"]), **texts}
