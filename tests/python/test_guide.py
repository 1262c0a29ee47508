"""The page of the guide about Python: its code runs as printed, and prints what follows it.

`RECOMPACT_BLESS=1 pytest tests/python/test_guide.py` writes what it prints into the page.
"""

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "src/guide/python.md"
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def test_the_page_prints_what_it_says():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("langchain")
    pandas.set_option("display.width", 100)
    names = {}

    def printed(block):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block[1], "<python.md>", "exec"), names)
        lines = [line.rstrip() for line in out.getvalue().splitlines()]
        text = "".join(line + "\n" for line in lines)
        return f"```python\n{block[1]}```\n" + (f"\n```text\n{text}```\n" if text else "")

    Path("target").mkdir(exist_ok=True)
    page = PAGE.read_text(encoding="utf-8")
    made = BLOCK.sub(printed, page)
    if os.environ.get("RECOMPACT_BLESS"):
        PAGE.write_text(made, encoding="utf-8")
    else:
        assert made == page
