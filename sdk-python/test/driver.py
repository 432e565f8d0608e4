"""Both clients by one interface, so that each test is of both."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable
from typing import Any

from sandhaven import AsyncSandhaven, Sandhaven, SandhavenError

Work = Callable[[Any], Any]


class Driver:
    def __init__(self, kind: str, **options: Any) -> None:
        self.is_async = kind == "async"
        self.client: Any = AsyncSandhaven(**options) if self.is_async else Sandhaven(**options)
        self._loop = asyncio.new_event_loop() if self.is_async else None

    def call(self, work: Work) -> Any:
        """Gives what a call gives."""
        if self._loop is None:
            return work(self.client)
        return self._loop.run_until_complete(_awaited(work, self.client))

    def failure(self, work: Work) -> SandhavenError:
        try:
            given = self.call(work)
        except SandhavenError as error:
            return error
        raise AssertionError(f"no error was raised, but {given!r} came")

    def first(self, count: int, work: Work) -> list[Any]:
        """Gives the first items of an iterator, and leaves it."""
        if self._loop is None:
            return _first(count, work(self.client))
        return self._loop.run_until_complete(_afirst(count, work, self.client))

    def all(self, work: Work) -> list[Any]:
        return self.first(1_000_000, work)

    def each(self, work: Work, take: Callable[[Any], None]) -> None:
        """Hands on each item, and keeps none."""
        if self._loop is None:
            for item in work(self.client):
                take(item)
            return
        self._loop.run_until_complete(_aeach(work, self.client, take))

    def until(self, event: threading.Event) -> None:
        """Goes on until something has happened; a loop does its work meanwhile."""
        give_up = time.monotonic() + 10
        while not event.is_set():
            assert time.monotonic() < give_up, "it has not happened"
            self.call(lambda _: asyncio.sleep(0.01) if self.is_async else time.sleep(0.01))

    def close(self) -> None:
        self.call(lambda client: client.close())
        if self._loop is not None:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()


async def _awaited(work: Work, client: Any) -> Any:
    value = work(client)
    return await value if inspect.isawaitable(value) else value


def _first(count: int, items: Any) -> list[Any]:
    got = []
    for item in items:
        got.append(item)
        if len(got) == count:
            break
    if hasattr(items, "close"):
        items.close()
    return got


async def _afirst(count: int, work: Work, client: Any) -> list[Any]:
    items = work(client)
    got = []
    async for item in items:
        got.append(item)
        if len(got) == count:
            break
    if hasattr(items, "aclose"):
        await items.aclose()
    return got


async def _aeach(work: Work, client: Any, take: Callable[[Any], None]) -> None:
    async for item in work(client):
        take(item)
