"""What a call does beside its result: warnings, progress, Ctrl-C, the program."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

import recompact


def test_files_that_are_no_transcripts_are_one_warning(codex, tmp_path):
    shutil.copy(codex, tmp_path / "session.jsonl")
    for number in range(20):
        (tmp_path / f"notes-{number:02}.json").write_text('{"a": 1}')
    with pytest.warns(recompact.RecompactWarning) as caught:
        recompact.replay(tmp_path, "lcc-s06")
    [message] = [str(warning.message) for warning in caught]
    assert message.startswith("20 files are no transcript in a known format and skipped: ") and message.endswith(" and 17 more")
    assert caught[0].filename == __file__


def test_lines_and_named_files_that_cannot_be_read_are_warnings(codex, tmp_path):
    (tmp_path / "a.jsonl").write_bytes(Path(codex).read_bytes() + b"{broken\n")
    (tmp_path / "b.jsonl").write_text("not a transcript")
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    with pytest.warns(recompact.RecompactWarning) as caught:
        results = recompact.replay(paths, "lcc-s06")
    messages = sorted(str(warning.message) for warning in caught)
    assert len(messages) == 2 and "a.jsonl:" in messages[0] and "b.jsonl: not a transcript" in messages[1]
    assert len(results.rows) == 4
    with pytest.raises(recompact.RecompactError, match="could not be read"):
        recompact.replay(paths, "lcc-s06", strict=True)


@pytest.mark.parametrize("name", ["replay", "sweep", "compare", "probe", "inspect", "audit", "read"])
def test_a_transcript_that_cannot_be_read_is_an_error_if_strict(codex, tmp_path, name):
    broken = tmp_path / "broken.jsonl.gz"
    broken.write_bytes(b"\x1f\x8b\x08\0cut")
    arguments = {
        "sweep": ("lcc-s06",),
        "compare": ("lcc-s06", "lcc-s08"),
        "probe": ("lcc-s06", "openai:m"),
        "replay": ("lcc-s06",),
    }
    settings = {"probe": {"dry_run": True}, "sweep": {"set": "micro.keep_recent_results=1,3"}}

    def call(**more):
        return getattr(recompact, name)([codex, broken], *arguments.get(name, ()), **settings.get(name, {}), **more)

    with pytest.warns(recompact.RecompactWarning, match="broken.jsonl.gz: cannot be decompressed"):
        call()
    with pytest.raises(recompact.RecompactError, match="broken.jsonl.gz: cannot be decompressed"):
        call(strict=True)


def test_nothing_to_analyse_is_an_error(tmp_path):
    for call in (recompact.inspect, recompact.read, recompact.audit, lambda path: recompact.replay(path, "lcc-s06")):
        with pytest.raises(recompact.RecompactError, match="no-such-file: no such file or folder"):
            call(tmp_path / "no-such-file")


def test_progress_is_called(codex):
    seen = []
    recompact.replay(codex, "lcc-s06", progress=lambda *state: seen.append(state))
    done, total, calls = seen[-1]
    assert done == total == os.path.getsize(codex) and calls == 4 * 93


def test_an_error_of_progress_ends_the_call(codex):
    def fail(*_):
        raise ValueError("no terminal")

    with pytest.raises(ValueError, match="no terminal"):
        recompact.replay(codex, "lcc-s06", progress=fail)


def test_tqdm_shows_progress(codex, capfd):
    pytest.importorskip("tqdm")
    recompact.replay(codex, "lcc-s06", progress=True)
    recompact.replay(codex, "lcc-s06", progress=False)


def test_other_threads_go_on(codex):
    counted = 0
    stop = threading.Event()

    def count():
        nonlocal counted
        while not stop.wait(0.001):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    recompact.replay([codex], ["lcc-s06", "lcc-s08", "claude-code"])
    stop.set()
    thread.join()
    assert counted > 10


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_stops(tmp_path, codex):
    for number in range(200):
        shutil.copy(codex, tmp_path / f"{number}.jsonl")
    # Some seconds of work, also for a program that was optimised.
    policies = ["lcc-s06", "lcc-s08", "lcc-s08-late", "claude-code", "anthropic-clear", "observation-mask", "sliding-window"]
    seen = []

    def interrupt_at_first(*state):
        seen.append(state)
        if len(seen) == 1:
            threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        recompact.replay(tmp_path, policies, jobs=1, progress=interrupt_at_first)
    done, total, _ = seen[-1]
    assert done < total


def test_results_do_not_depend_on_the_number_of_threads():
    one, many = (recompact.replay("fixtures/transcripts/codex", "lcc-s08", jobs=jobs).to_dict() for jobs in (1, 4))
    assert one == many


def replayed(path):
    return recompact.replay(path, "lcc-s06", jobs=2).to_dict()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_that_was_forked_after_a_replay_replays(codex):
    expected = replayed(codex)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(replayed, [codex] * 4).get(timeout=60) == [expected] * 4


def test_the_program_is_part_of_the_package():
    program = shutil.which("recompact", path=os.path.dirname(sys.executable))
    assert program
    printed = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout
    assert "Usage: recompact [OPTIONS] [COMMAND]" in printed
    wrong = subprocess.run([program, "replay", "no-such-file", "-p", "lcc-s06"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "\nrecompact: no-such-file: no such file" in wrong.stderr
    assert recompact.__version__ in subprocess.run([program, "--version"], capture_output=True, text=True).stdout


def test_conversations_are_plain_messages():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", recompact.RecompactWarning)
        conversations = recompact.read("fixtures/transcripts")
    assert len({conversation.format for conversation in conversations}) > 3
    for conversation in conversations:
        for message in conversation.messages:
            assert message["role"] in ("user", "assistant")
            assert isinstance(message["content"], str) or all("type" in block for block in message["content"])
        requests = list(conversation.requests())
        assert all(len(before) <= len(after) for before, after in zip(requests, requests[1:]))
