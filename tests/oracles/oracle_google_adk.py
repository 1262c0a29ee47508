# /// script
# dependencies = ["google-adk==2.13.0"]
# ///
"""Google ADK's context filter, on contents as its agents make them for a request."""

import asyncio
import types

from google.adk.models.llm_request import LlmRequest
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.genai.types import Content, FunctionCall, FunctionResponse, Part

from recordings import batches, serve


def to_content(batch):
    match batch:
        case [["user", text]]:
            return Content(role="user", parts=[Part(text=text)])
        case [["assistant", text, calls]]:
            calls = [Part(function_call=FunctionCall(id=call, name=name, args={"input": args})) for call, name, args in calls]
            return Content(role="model", parts=[Part(text=text), *calls])
        case results:
            response = lambda call, text: Part(function_response=FunctionResponse(id=call, name="tool", response={"result": text}))
            return Content(role="user", parts=[response(call, text) for _, call, text in results])


def to_items(content):
    if content.role == "model":
        first, *calls = content.parts
        calls = [part.function_call for part in calls]
        return [["assistant", first.text, [[call.id, call.name, call.args["input"]] for call in calls]]]
    if content.parts[0].function_response is None:
        return [["user", content.parts[0].text]]
    responses = [part.function_response for part in content.parts]
    return [["result", response.id, response.response["result"]] for response in responses]


class Filter:
    def __init__(self, **settings):
        self.plugin, self.contents = ContextFilterPlugin(**settings), []

    def request(self, new):
        self.contents += map(to_content, batches(new))
        request = LlmRequest(contents=list(self.contents))
        asyncio.run(self.plugin.before_model_callback(callback_context=types.SimpleNamespace(), llm_request=request))
        return [item for content in request.contents for item in to_items(content)], None


def start(variant):
    return {
        "1": lambda: Filter(num_invocations_to_keep=1),
        "3": lambda: Filter(num_invocations_to_keep=3),
    }[variant]()


serve(start, "google-adk")
