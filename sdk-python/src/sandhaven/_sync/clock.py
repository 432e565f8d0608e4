"""The time of one call, all attempts together, for a thread that waits."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import httpx

from .._failures import timed_out

_Value = TypeVar("_Value")
_CONNECT_SECONDS = 10.0


class Clock:
    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._ends_at = None if seconds is None else time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return self._ends_at is not None and time.monotonic() >= self._ends_at

    def stop(self) -> None:
        """Lifts the limit for the rest of the call."""
        self._ends_at = None

    def timeout(self) -> httpx.Timeout:
        """Longest silence of the other side: all of the remaining time."""
        left = self._left()
        return httpx.Timeout(left, connect=_CONNECT_SECONDS if left is None else min(_CONNECT_SECONDS, left))

    def run(self, work: Callable[[], _Value]) -> _Value:
        """Does work, which ends by its timeouts and by `watching`."""
        return work()

    def pause(self, seconds: float) -> None:
        left = self._left()
        if left is None or self.seconds is None or seconds < left:
            time.sleep(seconds)
            return
        time.sleep(left)
        raise timed_out(self.seconds)

    @contextmanager
    def watching(self, response: httpx.Response) -> Iterator[None]:
        """Ends the connection when the time is over: keep-alives come often enough that no read times out."""
        left = self._left()
        if left is None:
            yield
            return
        ending = _Ending(response)
        timer = threading.Timer(left, ending.end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            ending.forget()

    def _left(self) -> float | None:
        return None if self._ends_at is None else max(self._ends_at - time.monotonic(), 0.001)


class _Ending:
    """Shuts the socket of a response down, never once the response is done: others use the connection then."""

    def __init__(self, response: httpx.Response) -> None:
        stream = response.extensions.get("network_stream")
        self._socket = None if stream is None else stream.get_extra_info("socket")
        self._lock = threading.Lock()

    def end(self) -> None:
        with self._lock:
            if isinstance(self._socket, socket.socket):
                try:
                    # Not the method of a TLS socket, which would take its state from the thread that reads.
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
                except OSError:
                    return

    def forget(self) -> None:
        with self._lock:
            self._socket = None
