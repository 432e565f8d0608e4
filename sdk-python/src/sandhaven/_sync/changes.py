"""Follows changes of the caller's sandboxes, and connects again whenever the stream breaks off."""
# Made from _async/changes.py by `make generate`; never edited by hand.

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

import httpx

from .. import _follow
from .._error import SandhavenError
from .._events import EventReader
from .._follow import Choices, SandboxChange, change_of, is_transient, pause_seconds, route_of
from .connection import Connection


def changes_of(connection: Connection, choices: Choices) -> Generator[SandboxChange, None, None]:
    """Raises SandhavenError when another attempt makes no sense, such as with a key that is not valid."""
    path = route_of(choices)
    failures = 0
    while True:
        try:
            # The stream ends at once when the reader leaves, not when the memory is collected.
            with closing(_one_stream(connection, path)) as stream:
                for change in stream:
                    failures = 0
                    yield change
        except SandhavenError as error:
            if not is_transient(error):
                raise
        connection.begin(None).pause(pause_seconds(failures))
        failures += 1


def _one_stream(connection: Connection, path: str) -> Generator[SandboxChange, None, None]:
    clock = connection.begin(None)
    headers = {"Accept": "text/event-stream"}
    timeout = httpx.Timeout(_follow.SILENCE_SECONDS, connect=10.0)
    response = clock.run(lambda: connection.send("GET", path, clock, headers=headers, timeout=timeout))
    try:
        with connection.explaining(clock):
            if not response.is_success:
                raise connection.failure_of(response, clock)
            clock.stop()
            reader = EventReader(_follow.MAX_EVENT_BYTES)
            for chunk in response.iter_raw():
                for event in reader.feed(chunk):
                    change = change_of(event)
                    if change is not None:
                        yield change
    finally:
        response.close()
