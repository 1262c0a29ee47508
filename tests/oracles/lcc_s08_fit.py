"""The pipeline of learn-claude-code s08 at 182c6582, for the differential test of `lcc-s08-fit`.

It is written from the behaviour of the original and runs in the frame of the reference of the older versions, whose folder is the
environment variable REFERENCE: what is the same there is not written again.
"""

import os
import sys

sys.path.insert(0, os.environ["REFERENCE"])
import lcc

TARGET = 40_000


class S08Fit(lcc.S08Late):
    def snip(self, messages):
        if len(messages) <= self.MAX_MESSAGES:
            return
        # The marker is one of the messages that stay.
        head, start = self.HEAD, len(messages) - (self.MAX_MESSAGES - self.HEAD - 1)
        if lcc.holds(messages[head - 1], "tool_use", "assistant"):
            while head < start and lcc.holds(messages[head], "tool_result", "user"):
                head += 1
        start = self.pull_back(messages, start)
        if head < start:
            path = self.disk.archive()
            messages[head:start] = [{"role": "user", "content": f"[{start - head} messages archived at {path}]"}]

    def save(self, block):
        return self.disk.spill(self.file_name(block.get("tool_use_id", "unknown")), str(block["content"]))

    def micro(self, messages):
        answered = max((i for i, m in enumerate(messages) if m["role"] == "assistant"), default=-1)
        seen = [block for at, _, block in lcc.tool_results(messages) if at <= answered]
        for block in seen[: -self.KEEP_RECENT]:
            if self.estimate(messages) <= TARGET:
                return
            text = str(block.get("content", ""))
            if len(text) <= self.MIN_CHARS or text.startswith("[Earlier tool result saved at "):
                continue
            marker = "Full output: "
            known = text.startswith("<persisted-output>\n")
            path = next((line[len(marker):] for line in text.splitlines() if known and line.startswith(marker)), None)
            block["content"] = f"[Earlier tool result saved at {path or self.save(block)}]"

    def fit(self, messages):
        results = [block for _, _, block in lcc.tool_results(messages)]
        for block in sorted(results, key=lambda block: len(str(block.get("content", ""))), reverse=True):
            if self.estimate(messages) <= TARGET:
                return
            text = str(block.get("content", ""))
            if text.startswith(("[Earlier tool result saved at ", "<persisted-output>\n")):
                continue
            path = lcc.RESULT_FILE.format(self.file_name(block.get("tool_use_id", "unknown")))
            preview = f"<persisted-output>\nFull output: {path}\nPreview:\n{text[:1_000]}\n</persisted-output>"
            if len(preview) < len(text):
                self.save(block)
                block["content"] = preview

    def before_call(self, messages, window_chars):
        self.request = lcc.last_request(messages, getattr(self, "request", ""))
        self.budget(messages)
        self.snip(messages)
        for step in (self.micro, self.fit):
            if self.estimate(messages) > self.LIMIT:
                step(messages)
        if self.estimate(messages) > self.LIMIT:
            messages[:] = self.fold(messages, self.request)
        if window_chars and self.estimate(messages) > window_chars:
            messages[:] = self.react(messages, self.request)


older = lcc.make
lcc.make = lambda policy, summary, disk: S08Fit(summary, disk) if policy == "s08-182c658" else older(policy, summary, disk)
lcc.main()
