"""Recordings as recompact's test writes them, and requests as it reads them.

Standard input has one conversation a line: {"calls": [[MESSAGE, …], …]}, for each recorded call the messages that are new since the
call before. A message is {"role": …, "content": [PART, …]}; a part is {"text": …}, {"id": …, "result": TEXT} or
{"id": …, "name": …, "input": …}, a tool call.

Standard output gets one line a call: {"shared": N, "then": [ITEM, …], "estimate": N or null}. The request begins with as many items of
the request before. An item is ["user", TEXT], ["result", ID, TEXT] or ["assistant", TEXT, [[ID, TOOL, INPUT], …]].
"""

import importlib.metadata
import importlib.util
import itertools
import json
import os
import subprocess
import sys


class Text(str):
    """The text of a message, which may have several parts."""

    def __new__(cls, parts):
        text = super().__new__(cls, "".join(parts))
        text.parts = parts
        return text


def text_of(parts):
    return Text([part["text"] for part in parts if "text" in part])


def items(message):
    """The items of one message: what a harness would store apart, with each result alone."""
    if message["role"] == "assistant":
        calls = [[part["id"], part["name"], part["input"]] for part in message["content"] if "name" in part]
        return [["assistant", text_of(message["content"]), calls]]
    found = []
    for is_result, parts in itertools.groupby(message["content"], lambda part: "result" in part):
        if is_result:
            found += [["result", part["id"], part["result"]] for part in parts]
        else:
            found.append(["user", text_of(parts)])
    return found


def batches(new):
    """The items in groups that a harness would store as one message, with the results of a batch together."""
    key = lambda item: id(item) if item[0] != "result" else "result"
    return [list(group) for _, group in itertools.groupby(new, key)]


def serve(start, *packages):
    """Answers every recorded conversation. `start(variant)` makes a harness; its `request(items)` takes the new items of a call, and
    returns the items of the request and the harness's own estimate of it, or None."""
    if sys.argv[1:] == ["--version"]:
        print(", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages))
        return
    variant = sys.argv[1] if len(sys.argv) > 1 else ""
    for line in sys.stdin:
        harness, before = start(variant), []
        for new in json.loads(line)["calls"]:
            request, estimate = harness.request([item for message in new for item in items(message)])
            shared = sum(1 for _ in itertools.takewhile(lambda two: two[0] == two[1], zip(before, request)))
            print(json.dumps({"shared": shared, "then": request[shared:], "estimate": estimate}), flush=False)
            before = request


def checkout(variable, file):
    """The checkout that a variable of the environment names, for a program that no registry has; ends with code 77 without it."""
    folder = os.environ.get(variable, "")
    if not os.path.isfile(os.path.join(folder, file)):
        print(f"{variable} names no checkout with {file}", file=sys.stderr)
        sys.exit(77)
    return folder


def load(path):
    """A module of a checkout, without the package around it."""
    spec = importlib.util.spec_from_file_location(os.path.basename(path).removesuffix(".py"), path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def serve_checkout(start, name, folder):
    """Like `serve`; the version is the commit of the checkout."""
    if sys.argv[1:] == ["--version"]:
        commit = subprocess.run(["git", "-C", folder, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
        print(f"{name} {commit.stdout.strip() or 'of ' + folder}")
    else:
        serve(start)
