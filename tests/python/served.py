"""A policy as a program: clears all results but the newest three."""

import recompact


def clear(request):
    results = [message for message in request.messages if message["role"] == "tool"]
    for message in results[:-3]:
        message["content"] = "[cleared]"


if __name__ == "__main__":
    recompact.policy.serve(clear, shape="openai")
