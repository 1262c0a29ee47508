"""Functions run in the thread of the caller: Ctrl-C and a time limit end them, and a notebook's loop is not in their way."""

import asyncio
import os
import signal
import sys
import threading
import time
import traceback

import pytest

import recompact

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="signals")


def endless(request):
    while True:
        pass


def sleeping(request):
    time.sleep(60)


def catching(request):
    while True:
        try:
            endless(request)
        except Exception:
            pass


@needs_signals
@pytest.mark.parametrize("policy", [endless, sleeping])
def test_ctrl_c_is_raised_in_a_function(codex, policy):
    # At its first call, before which nothing else is slow.
    def interrupted(request):
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        policy(request)

    with pytest.raises(KeyboardInterrupt) as raised:
        recompact.replay(codex, interrupted)
    assert traceback.extract_tb(raised.value.__traceback__)[-1].name == policy.__name__


@pytest.mark.parametrize("policy", [endless, catching, pytest.param(sleeping, marks=needs_signals)])
def test_a_function_has_a_time_limit(codex, policy):
    with pytest.raises(recompact.RecompactError, match="call 1: .*: it did not answer within 1 s") as raised:
        recompact.replay(codex, recompact.policy.function(policy, timeout=1))
    cause = raised.value.__cause__
    assert isinstance(cause, TimeoutError) and traceback.extract_tb(cause.__traceback__)[-1].filename == __file__


def test_the_time_limit_is_the_setting_of_a_program(codex):
    with pytest.raises(recompact.RecompactError, match="it did not answer within 1 s"):
        recompact.replay(codex, endless, set={"program.timeout": 1})
    with pytest.raises(ValueError, match="timeout: 1 or more is needed, not 0"):
        recompact.policy.function(endless, timeout=0)


def test_a_time_limit_holds_in_other_threads(codex):
    def replay():
        try:
            recompact.replay(codex, recompact.policy.function(endless, timeout=1))
        except recompact.RecompactError as error:
            raised.append(error)

    raised = []
    thread = threading.Thread(target=replay)
    thread.start()
    thread.join()
    assert isinstance(raised[0].__cause__, TimeoutError)


def test_functions_run_in_the_thread_of_the_caller(codex):
    threads = set()
    recompact.replay([codex, "fixtures/transcripts/openai-chat"], lambda request: threads.add(threading.get_ident()), jobs=2)
    assert threads == {threading.get_ident()}


def test_a_function_may_replay(codex):
    def nested(request):
        if request.call == 1:
            counted.append(recompact.replay(codex, lambda request: None).total("keep-all", "calls"))

    counted = []
    recompact.replay(codex, nested)
    assert counted == [93]


def test_a_function_may_run_a_loop_within_that_of_the_caller(codex):
    async def later():
        await asyncio.sleep(0)
        return "later"

    def policy(request):
        assert asyncio.run(later()) == "later"

    async def notebook():
        recompact.replay(codex, policy)
        await asyncio.sleep(0)
        return asyncio.current_task() is not None

    assert asyncio.run(notebook())


@needs_signals
def test_ctrl_c_ends_a_page_that_calls_functions_again(codex, tmp_path):
    calls = []

    def newest(request):
        calls.append(request.call)
        if len(calls) == 94:
            signal.raise_signal(signal.SIGINT)
        return request.messages[-6:]

    results = recompact.replay(codex, newest)
    assert len(calls) == 93
    with pytest.raises(KeyboardInterrupt):
        results.save(tmp_path / "page.html")
