"""Follows changes of the caller's sandboxes, and connects again whenever the stream breaks off."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import httpx

from .. import _follow
from .._error import SandhavenError
from .._events import EventReader
from .._follow import Choices, SandboxChange, change_of, is_transient, pause_seconds, route_of
from .connection import AsyncConnection


async def changes_of(connection: AsyncConnection, choices: Choices) -> AsyncGenerator[SandboxChange, None]:
    """Raises SandhavenError when another attempt makes no sense, such as with a key that is not valid."""
    path = route_of(choices)
    failures = 0
    while True:
        try:
            # The stream ends at once when the reader leaves, not when the memory is collected.
            async with aclosing(_one_stream(connection, path)) as stream:
                async for change in stream:
                    failures = 0
                    yield change
        except SandhavenError as error:
            if not is_transient(error):
                raise
        await connection.begin(None).pause(pause_seconds(failures))
        failures += 1


async def _one_stream(connection: AsyncConnection, path: str) -> AsyncGenerator[SandboxChange, None]:
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
                    change = change_of(event)
                    if change is not None:
                        yield change
    finally:
        await response.aclose()
