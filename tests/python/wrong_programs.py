"""Programs that a type checker must refuse where they say `# wrong`, and nowhere else."""

import datetime
from collections.abc import Iterable

import recompact
from recompact.policy import Message, Request, function


def right(request: Request) -> list[Message]:
    return request.messages[-20:]


def may_be_none(request: Request) -> Iterable[Message] | None:
    return None


class Stateful:
    def __call__(self, request: Request) -> list[Message]:
        return request.messages


def of_messages(messages: list[Message]) -> list[Message]:
    return messages


def of_two(request: Request, window: int) -> list[Message]:
    return request.messages


def of_none() -> list[Message]:
    return []


def returns_text(request: Request) -> str:
    return "newest"


def returns_number(request: Request) -> int:
    return 20


async def waits(request: Request) -> list[Message]:
    return request.messages


class NoPolicy:
    pass


results = recompact.replay("runs", [right, may_be_none, Stateful, Stateful(), "lcc-s06", lambda request: request.messages])
recompact.replay("runs", right, window=8e4, since=datetime.date(2026, 10, 1), set={"micro.keep_recent_results": 5})
function(Stateful, "other", shape="openai", timeout=60)
recompact.probe("runs", [right, "lcc-s06"], "openai:gpt-5.5", questions=20, max_calls=100, max_cost=2.5)

recompact.replay("runs", of_messages)  # wrong
recompact.replay("runs", of_two)  # wrong
recompact.replay("runs", of_none)  # wrong
recompact.replay("runs", returns_text)  # wrong
recompact.replay("runs", returns_number)  # wrong
recompact.replay("runs", waits)  # wrong
recompact.replay("runs", NoPolicy)  # wrong
recompact.replay("runs", 5)  # wrong
recompact.replay(5, right)  # wrong
recompact.replay("runs", right, windw=80_000)  # wrong
recompact.replay("runs", right, cache="never")  # wrong
recompact.replay("runs", right, findings="yes")  # wrong
recompact.replay("runs", right, on_error="ignore")  # wrong
recompact.replay("runs", right, progress="yes")  # wrong
recompact.sweep("runs", "lcc-s06", holdout="a third")  # wrong
recompact.load(5)  # wrong
recompact.show(["runs"], "lcc-s06")  # wrong
results.totals("lcc-s06", "calls")  # wrong
function(right, shape="anthropc")  # wrong
recompact.diff(results, "results.json")  # wrong
recompact.audit("runs", window=80_000)  # wrong
recompact.read("runs", findings=True)  # wrong
recompact.probe("runs", right, 5)  # wrong
recompact.probe("runs", right, "openai:gpt-5.5", by="bits")  # wrong
recompact.probe("runs", right, "openai:gpt-5.5", max_call=10)  # wrong
recompact.probe("runs", right, "openai:gpt-5.5", baseline="keep-all")  # wrong
