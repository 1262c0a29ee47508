# /// script
# dependencies = ["semantic-kernel==1.45.0"]
# ///
"""Semantic Kernel's truncation of a chat history, asked before every request."""

import asyncio
import json

from semantic_kernel.contents import ChatHistoryTruncationReducer, ChatMessageContent, FunctionCallContent, FunctionResultContent
from semantic_kernel.contents import TextContent
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


class Truncation:
    def __init__(self, **settings):
        self.history = ChatHistoryTruncationReducer(**settings)

    def request(self, new):
        for item in new:
            self.history.add_message(to_kernel(item))
        asyncio.run(self.history.reduce())
        return [to_item(message) for message in self.history.messages], None


def start(variant):
    return {"40": lambda: Truncation(target_count=40), "12": lambda: Truncation(target_count=12)}[variant]()


serve(start, "semantic-kernel")
