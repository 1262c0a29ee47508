"""Pydantic AI: a history processor, which is your function from messages to messages.

Install `recompact` and `pydantic-ai-slim`.

```python
import recompact
from recompact.adapters import pydantic_ai

def keep_recent(messages):
    return messages[:1] + messages[1:][-20:]

recompact.replay("runs", pydantic_ai.history_processor(keep_recent))
```

A processor that takes a `RunContext` is not called: a replay has no run.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from ..policy import Function, Message
from ._converted import adapter, blocks_of, finished, result_text


def history_processor(processor: Callable[[list[ModelMessage]], Any], *, name: str | None = None) -> Function:
    """Returns a history processor as a policy. What it returns is the history from then on, as in the library."""

    def edit(_: Any, messages: list[ModelMessage], __: Any) -> list[ModelMessage]:
        processed = processor(messages)
        left: list[ModelMessage] = finished(processed) if inspect.iscoroutine(processed) else processed
        return left

    return adapter(name or processor.__name__, (to_model_message, to_message), lambda: edit, "anthropic")


def to_model_message(message: Message) -> ModelMessage:
    """Returns a message in Anthropic's form as Pydantic AI has it."""
    parts = [part for block in blocks_of(message) for part in _parts(message["role"], block)]
    return ModelRequest(parts=parts) if message["role"] == "user" else ModelResponse(parts=parts)


def _parts(role: str, block: dict[str, Any]) -> list[Any]:
    if block["type"] == "text":
        return [UserPromptPart(block["text"]) if role == "user" else TextPart(block["text"])]
    if block["type"] == "thinking":
        return [ThinkingPart(block["thinking"])]
    if block["type"] == "tool_use":
        return [ToolCallPart(block["name"], block["input"], block["id"])]
    if block["type"] == "tool_result":
        return [ToolReturnPart("", result_text(block), block["tool_use_id"])]
    return []


def to_message(made: ModelMessage) -> Message:
    """Returns a message of Pydantic AI in Anthropic's form."""
    blocks: list[dict[str, Any]] = []
    for part in made.parts:
        if isinstance(part, ToolCallPart):
            blocks.append({"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name, "input": part.args_as_dict()})
        elif isinstance(part, ToolReturnPart):
            content = part.content if isinstance(part.content, str) else json.dumps(part.content)
            blocks.append({"type": "tool_result", "tool_use_id": part.tool_call_id, "content": content})
        elif isinstance(part, ThinkingPart):
            blocks.append({"type": "thinking", "thinking": part.content})
        else:
            blocks.append({"type": "text", "text": str(getattr(part, "content", ""))})
    return {"role": "assistant" if isinstance(made, ModelResponse) else "user", "content": blocks}
