"""Items as LangChain's messages, as its agents hold them, and back."""

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage


def to_langchain(item):
    match item:
        case ["user", text]:
            return HumanMessage(content=text)
        case ["result", call, text]:
            return ToolMessage(content=text, tool_call_id=call)
        case ["assistant", text, calls]:
            return AIMessage(content=text, tool_calls=[{"id": call, "name": name, "args": args} for call, name, args in calls])


def to_item(message):
    match message:
        case HumanMessage():
            return ["user", message.content]
        case ToolMessage():
            return ["result", message.tool_call_id, message.content]
        case AIMessage():
            return ["assistant", message.content, [[call["id"], call["name"], call["args"]] for call in message.tool_calls]]
