# /// script
# dependencies = ["deepagents==0.7.32"]
# ///
"""deepagents' summarization middleware, as its factory makes it. Its first step, which cuts long arguments of `write_file` and
`edit_file`, is off: a quirk of the preset names it. The text around a summary has a path that is another one in each session."""

from deepagents.backends import StateBackend
from deepagents.middleware.summarization import create_summarization_middleware
from langchain.agents.middleware.types import ExtendedModelResponse, ModelRequest, ModelResponse
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.utils import count_tokens_approximately

from langchain_messages import to_item, to_langchain
from recordings import serve


class Summarization:
    def __init__(self, trigger=None):
        model = FakeListChatModel(responses=["SUMMARY"])
        self.middleware = create_summarization_middleware(model, StateBackend(), summarizer=lambda messages: "SUMMARY")
        self.middleware._truncate_args_trigger = None
        self.middleware._offload_to_backend = lambda *_: "a path"
        self.middleware._build_new_messages_with_path = lambda summary, path: [HumanMessage(content=summary)]
        if trigger:
            self.middleware._lc_helper._trigger_clauses = [{"tokens": trigger}]
        self.history, self.state = [], {}

    def request(self, new):
        self.history += map(to_langchain, new)
        sent = []

        def handle(request):
            sent[:] = request.messages
            return ModelResponse(result=[AIMessage(content="")])

        request = ModelRequest(model=self.middleware.model, messages=list(self.history), state=self.state)
        response = self.middleware.wrap_model_call(request, handle)
        if isinstance(response, ExtendedModelResponse):
            self.state |= response.command.update
        return [to_item(message) for message in sent], count_tokens_approximately(sent)


def start(variant):
    return {"170k": Summarization, "20k": lambda: Summarization(20_000)}[variant]()


serve(start, "deepagents")
