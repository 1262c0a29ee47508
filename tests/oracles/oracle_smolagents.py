# /// script
# dependencies = ["smolagents==1.26.0"]
# ///
"""What the Python executor of smolagents' CodeAgent keeps of what a step prints. The line end that `print` adds is taken off again; the
line between the parts of a cut text is the preset's."""

from smolagents.local_python_executor import LocalPythonExecutor

from recordings import serve

MARKER = "\n[shortened to 50,000 characters]\n"


def printed(text, most):
    executor = LocalPythonExecutor([], max_print_outputs_length=most)
    executor.send_tools({})
    executor.send_variables({"text": text})
    logs = executor("print(text)").logs
    return logs.removesuffix("\n").replace(f"\n..._This content has been truncated to stay below {most} characters_...\n", MARKER)


class Agent:
    def __init__(self, most):
        self.most = int(most)
        self.history = []

    def request(self, new):
        self.history += [["result", item[1], printed(item[2], self.most)] if item[0] == "result" else item for item in new]
        return list(self.history), None


serve(Agent, "smolagents")
