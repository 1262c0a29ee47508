"""LangChain's middleware: context editing (`ClearToolUsesEdit`) and summarization (`SummarizationMiddleware`).

Install `recompact` and `langchain`.

```python
import recompact
from langchain.agents.middleware import ClearToolUsesEdit, SummarizationMiddleware
from langchain_core.language_models import FakeListChatModel
from recompact.adapters import langchain

policies = [
    langchain.context_editing(ClearToolUsesEdit(trigger=50_000, keep=3)),
    langchain.summarization(SummarizationMiddleware(FakeListChatModel(responses=[""]), trigger=("tokens", 100_000))),
]
recompact.replay("runs", policies)
```

The middleware's own model is not asked: the summarizer of the study writes the summaries. So it may be any, also one without a key;
but the middleware counts tokens by its kind, so `"openai:gpt-5"`, which needs `langchain-openai`, is nearer to what you run.
"""

from __future__ import annotations

import copy
import json
from typing import Any

from langchain.agents.middleware import SummarizationMiddleware
from langchain.agents.middleware.context_editing import ContextEdit
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.runnables import RunnableLambda

from ..policy import Function, Message
from ._converted import adapter, text_of


def context_editing(
    *edits: ContextEdit, count_tokens: Any = count_tokens_approximately, name: str = "langchain-context-editing"
) -> Function:
    """Returns `ContextEditingMiddleware` with these edits as a policy. It edits a copy of the history for each request."""

    def edit(request: Any, messages: list[AnyMessage], _: Any) -> list[AnyMessage]:
        request.scope = "request"
        for edit in edits:
            edit.apply(messages, count_tokens=count_tokens)
        return messages

    return adapter(name, (to_langchain, to_message), lambda: edit)


def summarization(middleware: SummarizationMiddleware, *, name: str = "langchain-summarization") -> Function:
    """Returns a `SummarizationMiddleware` as a policy. Its `trigger`, `keep`, prompt and trimming are its own."""
    prompt = middleware.summary_prompt.replace("{messages}", "{conversation}")

    def begin() -> Any:
        own = copy.copy(middleware)

        def edit(request: Any, messages: list[AnyMessage], converted: Any) -> list[AnyMessage] | None:
            own.summarizer = RunnableLambda(lambda of: request.summarize(converted.shown(of), prompt))
            update = own.before_model({"messages": messages}, None)  # type: ignore[typeddict-item, arg-type, unused-ignore]
            # The first entry says that all messages are replaced.
            return None if update is None else update["messages"][1:]

        return edit

    return adapter(name, (to_langchain, to_message), begin)


def to_langchain(message: Message) -> AnyMessage:
    """Returns a message in OpenAI's form as LangChain has it."""
    if message["role"] == "tool":
        return ToolMessage(content=text_of(message), tool_call_id=message["tool_call_id"])
    if message["role"] == "user":
        return HumanMessage(content=message["content"])
    calls = [
        {"id": call["id"], "name": call["function"]["name"], "args": json.loads(call["function"]["arguments"] or "{}")}
        for call in message.get("tool_calls") or ()
    ]
    return AIMessage(content=_said(message), tool_calls=calls)


def _said(message: Message) -> str:
    """Returns what a response says as one text, as OpenAI's API has it. In a list, LangChain takes calls for parts of the content."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def to_message(made: AnyMessage) -> Message:
    """Returns a message of LangChain in OpenAI's form."""
    if isinstance(made, ToolMessage):
        return {"role": "tool", "tool_call_id": made.tool_call_id, "content": made.content}
    if isinstance(made, AIMessage) and made.tool_calls:
        calls = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": json.dumps(call["args"])}}
            for call in made.tool_calls
        ]
        return {"role": "assistant", "tool_calls": calls} | ({"content": made.content} if made.content else {})
    return {"role": "assistant" if isinstance(made, AIMessage) else "user", "content": made.content}
