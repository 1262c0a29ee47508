"""Microsoft's Agent Framework: its compaction strategies, such as `SlidingWindowStrategy`.

Install `recompact` and `agent-framework-core`.

```python
import recompact
from agent_framework import SlidingWindowStrategy
from recompact.adapters import agent_framework

recompact.replay("runs", agent_framework.compaction(SlidingWindowStrategy(keep_last_groups=20)))
```

A strategy that asks a model needs a chat client of its own.
"""

from __future__ import annotations

import json
from typing import Any

from agent_framework import Content, apply_compaction
from agent_framework import Message as FrameworkMessage

from ..policy import Function, Message
from ._converted import adapter, finished, text_of


def compaction(strategy: Any, *, tokenizer: Any = None, name: str | None = None) -> Function:
    """Returns a strategy as a policy. What it excludes leaves the history, as in the library."""

    def edit(_: Any, messages: list[FrameworkMessage], __: Any) -> list[FrameworkMessage]:
        compacted: list[FrameworkMessage] = finished(apply_compaction(messages, strategy=strategy, tokenizer=tokenizer))
        return compacted

    return adapter(name or type(strategy).__name__, (to_framework, to_message), lambda: edit)


def to_framework(message: Message) -> FrameworkMessage:
    """Returns a message in OpenAI's form as the framework has it."""
    if message["role"] == "tool":
        return FrameworkMessage("tool", [Content.from_function_result(message["tool_call_id"], result=text_of(message))])
    text = text_of(message)
    contents: list[Any] = [Content.from_text(text)] if text else []
    for call in message.get("tool_calls") or ():
        function = call["function"]
        contents.append(Content.from_function_call(call["id"], function["name"], arguments=function["arguments"]))
    return FrameworkMessage(message["role"], contents)


def to_message(made: FrameworkMessage) -> Message:
    """Returns a message of the framework in OpenAI's form."""
    results = [content for content in made.contents if content.type == "function_result"]
    if results:
        return {"role": "tool", "tool_call_id": results[0].call_id, "content": str(results[0].result)}
    calls = [
        {"id": content.call_id, "type": "function", "function": {"name": content.name, "arguments": _text(content.arguments)}}
        for content in made.contents
        if content.type == "function_call"
    ]
    message: Message = {"role": made.role}
    if made.text or not calls:
        message["content"] = made.text
    return message | ({"tool_calls": calls} if calls else {})


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})
