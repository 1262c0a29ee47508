"""Calls of functions: ends those that take too long, and lets them use `asyncio` in a notebook."""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class OutOfTime(BaseException):
    """Ends a function that takes too long. No policy should catch it, so it is no `Exception`."""


def interrupt(thread: int) -> None:
    """Ends what a thread does in Python: at its next step, and in the main thread also a wait, such as `time.sleep`."""
    is_main = thread == threading.main_thread().ident
    if is_main and hasattr(signal, "pthread_kill") and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.pthread_kill(thread, signal.SIGINT)
    else:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(OutOfTime))


def settle() -> None:
    """Raises an interruption that has not come yet."""
    for _ in range(1_000):
        pass


@contextmanager
def without_running_loop() -> Iterator[None]:
    """Functions may call `asyncio.run`, also if the caller is in a running loop, as in a notebook: it waits for this call."""
    asyncio: Any = sys.modules.get("asyncio")
    loop = asyncio and asyncio._get_running_loop()
    if not loop:
        yield
        return
    task = asyncio.current_task(loop)
    if task:
        asyncio.tasks._leave_task(loop, task)
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)
        if task:
            asyncio.tasks._enter_task(loop, task)
