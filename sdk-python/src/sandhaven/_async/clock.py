"""The time of one call, all attempts together, on asyncio's clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

import httpx

from .._failures import timed_out

_Value = TypeVar("_Value")
_CONNECT_SECONDS = 10.0


class AsyncClock:
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

    async def run(self, work: Callable[[], Awaitable[_Value]]) -> _Value:
        """Ends work when the time is over."""
        left = self._left()
        if left is None or self.seconds is None:
            return await work()
        try:
            return await asyncio.wait_for(work(), left)
        except (asyncio.TimeoutError, TimeoutError) as error:
            # A listener of the caller may have raised one of its own.
            if self.is_over:
                raise timed_out(self.seconds) from error
            raise

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def watching(self, response: httpx.Response) -> AbstractContextManager[None]:
        """Nothing is to be watched: `run` ends the task that reads."""
        return nullcontext()

    def _left(self) -> float | None:
        return None if self._ends_at is None else max(self._ends_at - time.monotonic(), 0.001)
