"""Builds snapshots from Dockerfiles, and hands on what happens meanwhile."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any, cast
from urllib.parse import urlencode

import httpx

from .._bodies import MAX_PROBLEM_BYTES, Collected, UnreadableError, parse_json
from .._failures import foreign_answer, from_problem
from .._generated.types import GetSnapshotResult
from .._output import Heard
from .._records import BuildEvent
from .clock import AsyncClock
from .connection import AsyncConnection
from .content import AsyncContent, sendable


async def build(
    connection: AsyncConnection,
    settings: Mapping[str, str | None],
    build_args: Mapping[str, str],
    context: AsyncContent,
    on_event: Callable[[BuildEvent], object] | None,
    call_timeout_seconds: float | None,
) -> GetSnapshotResult:
    """Sends the context, and hands on all but the last event. `settings` are those of the query, None for a default."""
    query = [(name, value) for name, value in settings.items() if value is not None]
    query += [("build_arg", f"{name}={value}") for name, value in build_args.items()]
    clock = connection.begin(call_timeout_seconds)
    headers = {"Content-Type": "application/x-tar"}

    async def send() -> GetSnapshotResult:
        route = f"/v1/builds?{urlencode(query)}"
        response = await connection.send("POST", route, clock, headers=headers, content=sendable(context))
        try:
            with connection.explaining(clock):
                if not response.is_success:
                    raise await connection.failure_of(response, clock)
                return await _result_of(response, clock, on_event)
        finally:
            await response.aclose()

    return await clock.run(send)


async def _result_of(
    response: httpx.Response, clock: AsyncClock, on_event: Callable[[BuildEvent], object] | None
) -> GetSnapshotResult:
    async with aclosing(_lines_of(response, clock)) as lines:
        async for line in lines:
            event = parse_json(line)
            if not isinstance(event, dict):
                raise foreign_answer(200)
            if event.get("event") == "result":
                return cast(GetSnapshotResult, event.get("snapshot"))
            if event.get("event") == "error":
                raise from_problem(event.get("problem")) or foreign_answer(200)
            if on_event is not None:
                await Heard(on_event(cast(Any, event)))
    raise UnreadableError("the build ended without a result")


async def _lines_of(response: httpx.Response, clock: AsyncClock) -> AsyncGenerator[bytes, None]:
    """Empty lines show that the build goes on."""
    unfinished = Collected(MAX_PROBLEM_BYTES)
    with clock.watching(response):
        async for chunk in response.aiter_raw():
            *ended, rest = chunk.split(b"\n")
            for part in ended:
                unfinished.add(part)
                line = unfinished.take()
                if line:
                    yield line
            unfinished.add(rest)
