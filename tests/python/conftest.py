"""What the tests share: where the recorded sessions of the repository are."""

import os
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
