"""What the tests share: where the recorded sessions of the repository are."""

import os
import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True, scope="session")
def _in_the_repository():
    """Examples and tests name files from the top of the repository."""
    os.chdir(ROOT)


@pytest.fixture
def codex():
    """One recorded session with one conversation of 93 calls."""
    return "fixtures/transcripts/codex/repair.jsonl"


@pytest.fixture(autouse=True)
def interruptible():
    """Ctrl-C raises, also where the tests were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
