"""Google's Agent Development Kit: `ContextFilterPlugin`, which keeps the newest invocations or runs your filter.

Install `recompact` and `google-adk`.

```python
import recompact
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from recompact.adapters import google_adk

recompact.replay("runs", google_adk.context_filter(ContextFilterPlugin(num_invocations_to_keep=3)))
```

An invocation begins with any message of the user's, also one that a harness wrote in his name, such as a notification; the layer `keep`
begins a turn only with what the user typed.
"""

from __future__ import annotations

from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.genai import types

from ..policy import Function, Message
from ._converted import adapter, blocks_of, finished, result_text


def context_filter(plugin: ContextFilterPlugin, *, name: str = "adk-context-filter") -> Function:
    """Returns the plugin as a policy. It filters each request, and the history stays as it is."""

    def edit(request: Any, contents: list[types.Content], _: Any) -> list[types.Content]:
        request.scope = "request"
        sent = LlmRequest.model_construct(contents=contents)
        finished(plugin.before_model_callback(callback_context=None, llm_request=sent))  # type: ignore[arg-type]
        return sent.contents

    return adapter(name, (to_content, to_message), lambda: edit, "anthropic")


def to_content(message: Message) -> types.Content:
    """Returns a message in Anthropic's form as Gemini has it."""
    role = "user" if message["role"] == "user" else "model"
    return types.Content(role=role, parts=[part for block in blocks_of(message) for part in _parts(block)])


def _parts(block: dict[str, Any]) -> list[types.Part]:
    if block["type"] == "text":
        return [types.Part(text=block["text"])]
    if block["type"] == "tool_use":
        return [types.Part(function_call=types.FunctionCall(id=block["id"], name=block["name"], args=block["input"]))]
    if block["type"] == "tool_result":
        response = {"result": result_text(block)}
        return [types.Part(function_response=types.FunctionResponse(id=block["tool_use_id"], response=response))]
    return []


def to_message(content: types.Content) -> Message:
    """Returns a content of Gemini in Anthropic's form."""
    blocks: list[dict[str, Any]] = []
    for part in content.parts or ():
        if part.function_call:
            call = part.function_call
            blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": call.args})
        elif part.function_response:
            response = part.function_response
            blocks.append(
                {"type": "tool_result", "tool_use_id": response.id, "content": str((response.response or {}).get("result"))}
            )
        else:
            blocks.append({"type": "text", "text": part.text or ""})
    return {"role": "user" if content.role == "user" else "assistant", "content": blocks}
