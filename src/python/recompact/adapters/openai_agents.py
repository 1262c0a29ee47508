"""OpenAI's Agents SDK: a filter of the model's input, such as `ToolOutputTrimmer`.

Install `recompact` and `openai-agents`.

```python
import recompact
from agents.extensions import ToolOutputTrimmer
from recompact.adapters import openai_agents

recompact.replay("runs", openai_agents.input_filter(ToolOutputTrimmer(recent_turns=2)))
```

Outputs of tools that the filter changes are changed in the request; a filter may leave out items too, but adds
none. The trimmer knows calls by their ids: of two with one id, the newer one names the tool of both.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from agents.run_config import CallModelData, ModelInputData

from ..policy import Function, Message, PolicyFunction, Request
from ._converted import Converted, finished, text_of


def input_filter(call_filter: Callable[[CallModelData[Any]], Any], *, name: str | None = None) -> Function:
    """Returns a `call_model_input_filter` as a policy. It filters each request, and the history stays as it is."""

    def begin() -> PolicyFunction:
        converted = Converted(_items, _no_message)

        def policy(request: Request) -> list[Message]:
            return filtered(request, converted.objects(request.messages))

        return policy

    def filtered(request: Request, held: list[list[dict[str, Any]]]) -> list[Message]:
        request.scope = "request"
        # The filter may write into what it gets.
        items = [(message, [{**item} for item in own]) for message, own in zip(request.messages, held)]
        model_data = ModelInputData(input=[item for _, own in items for item in own], instructions=None)  # type: ignore[misc, unused-ignore]
        data: CallModelData[Any] = CallModelData(model_data, agent=None, context=None)  # type: ignore[arg-type, unused-ignore]
        called = call_filter(data)
        left = (finished(called) if inspect.iscoroutine(called) else called).input
        outputs = {item["call_id"]: item["output"] for item in left if item.get("type") == "function_call_output"}
        kept = {id(item) for item in left} | {key for item in left if (key := _key(item))}
        sent = []
        for message, own in items:
            if message["role"] == "tool" and message["tool_call_id"] in outputs:
                output = outputs[message["tool_call_id"]]
                sent.append(message if output == own[0]["output"] else {**message, "content": output})
            elif any(id(item) in kept or _key(item) in kept for item in own):
                sent.append(message)
        return sent

    return Function(begin, name or type(call_filter).__name__, "openai")


def _key(item: dict[str, Any]) -> tuple[str, str] | None:
    return (item["type"], item["call_id"]) if "call_id" in item else None


def _no_message(_: Any) -> Message:
    raise TypeError("a filter adds no items")


def _items(message: Message) -> list[dict[str, Any]]:
    """Returns a message in OpenAI's form as items of the Responses API."""
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message["tool_call_id"], "output": text_of(message)}]
    said = [{"role": message["role"], "content": text_of(message)}]
    calls = [
        {
            "type": "function_call",
            "call_id": call["id"],
            "name": call["function"]["name"],
            "arguments": call["function"]["arguments"],
        }
        for call in message.get("tool_calls") or ()
    ]
    return said + calls
