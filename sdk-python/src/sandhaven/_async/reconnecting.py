"""Reads a stream of events over as many connections as it takes: a new one whenever the last one breaks off."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TypeVar

import httpx

from .. import _follow
from .._error import SandhavenError
from .._events import EventReader, ServerEvent
from .._failures import unreachable
from .._follow import is_transient, pause_seconds
from .connection import AsyncConnection

_Value = TypeVar("_Value")


async def read_reconnecting(
    connection: AsyncConnection,
    path: Callable[[], str],
    read: Callable[[ServerEvent], _Value | None],
    max_retries: float = float("inf"),
) -> AsyncGenerator[_Value, None]:
    """Raises SandhavenError when another attempt makes no sense, such as with a key that is not valid.

    Reads events until `read` raises; it returns None for one to skip. `path` is the route of the next connection, and
    `max_retries` bounds failures in a row before the first value.
    """
    failures = 0
    retries = max_retries
    while True:
        try:
            # The stream ends at once when the reader leaves, not when the memory is collected.
            async with aclosing(_one_stream(connection, path(), read)) as stream:
                async for value in stream:
                    failures = 0
                    retries = float("inf")
                    yield value
            if failures >= retries:
                raise unreachable(connection.url)
        except SandhavenError as error:
            if not is_transient(error) or failures >= retries:
                raise
        await connection.begin(None).pause(pause_seconds(failures))
        failures += 1


async def _one_stream(
    connection: AsyncConnection, path: str, read: Callable[[ServerEvent], _Value | None]
) -> AsyncGenerator[_Value, None]:
    clock = connection.begin(None)
    headers = {"Accept": "text/event-stream"}
    timeout = httpx.Timeout(_follow.SILENCE_SECONDS, connect=10.0)
    response = await clock.run(lambda: connection.send("GET", path, clock, headers=headers, timeout=timeout))
    try:
        with connection.explaining(clock):
            if not response.is_success:
                raise await connection.failure_of(response, clock)
            clock.stop()
            reader = EventReader(_follow.MAX_EVENT_BYTES)
            async for chunk in response.aiter_raw():
                for event in reader.feed(chunk):
                    value = read(event)
                    if value is not None:
                        yield value
    finally:
        await response.aclose()
