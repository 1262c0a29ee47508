"""A model that finds the line of a question in the conversation that it is shown, and names what fills the blank."""

import re
import sys

prompt = sys.stdin.read()
conversation, _, question = prompt.rpartition("</conversation>")
before, after = re.search("left blank:\n`(.*)`\nWhat", question, re.DOTALL)[1].split("____")
# A long line is cut in the question.
found = re.search(re.escape(before[-15:]) + r"([^\s\\`,;]+)" + re.escape(after[:5]), conversation)
print(found[1] if found else "UNKNOWN")
