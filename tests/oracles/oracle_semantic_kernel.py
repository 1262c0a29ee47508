# /// script
# dependencies = ["semantic-kernel==1.45.0"]
# ///
"""Semantic Kernel's reducers of a chat history, asked before every request."""

import asyncio
import json

from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.contents import ChatHistorySummarizationReducer, ChatHistoryTruncationReducer
from semantic_kernel.contents import ChatMessageContent, FunctionCallContent, FunctionResultContent, TextContent
from semantic_kernel.contents.utils.author_role import AuthorRole

from recordings import serve


def to_kernel(item):
    match item:
        case ["user", text]:
            return ChatMessageContent(role=AuthorRole.USER, items=[TextContent(text=text)])
        case ["result", call, text]:
            return ChatMessageContent(role=AuthorRole.TOOL, items=[FunctionResultContent(id=call, name="tool", result=text)])
        case ["assistant", text, calls]:
            calls = [FunctionCallContent(id=call, name=name, arguments=json.dumps(args)) for call, name, args in calls]
            return ChatMessageContent(role=AuthorRole.ASSISTANT, items=[TextContent(text=text), *calls])


def to_item(message):
    first, *calls = message.items
    if message.role == AuthorRole.USER:
        return ["user", first.text]
    if message.role == AuthorRole.TOOL:
        return ["result", first.id, first.result]
    return ["assistant", first.text, [[call.id, call.name, json.loads(call.arguments)] for call in calls]]


class Service(ChatCompletionClientBase):
    """A model that always answers the same."""

    async def get_chat_message_content(self, chat_history, settings, **_):
        return ChatMessageContent(role=AuthorRole.ASSISTANT, items=[TextContent(text="SUMMARY")])


class Reducer:
    def __init__(self, kind, **settings):
        self.history = kind(**settings)

    def request(self, new):
        for item in new:
            self.history.add_message(to_kernel(item))
        asyncio.run(self.history.reduce())
        return [to_item(message) for message in self.history.messages], None


def summarization(**settings):
    return Reducer(ChatHistorySummarizationReducer, service=Service(ai_model_id="none"), **settings)


def start(variant):
    return {
        "40": lambda: Reducer(ChatHistoryTruncationReducer, target_count=40),
        "12": lambda: Reducer(ChatHistoryTruncationReducer, target_count=12),
        "summarization-40": lambda: summarization(target_count=40),
        "summarization-9": lambda: summarization(target_count=9),
    }[variant]()


serve(start, "semantic-kernel")
