"""Calls a tool: sends the request, retries where that is safe, and reads JSON or a stream of events."""

from __future__ import annotations

import json
from collections.abc import Mapping

import httpx

from .. import _bodies
from .._calls import CallOptions, ToolFacts, given, key_of, may_repeat, pause_seconds, settle
from .._error import SandhavenError
from .._events import EventReader
from .._failures import invalid_argument
from .._output import Heard, Output, piece_of
from .clock import AsyncClock
from .connection import AsyncConnection


async def call_tool(
    connection: AsyncConnection, tool: ToolFacts, parameters: Mapping[str, object], options: CallOptions
) -> dict[str, object]:
    key = key_of(tool, options)
    retries = connection.max_retries if options.max_retries is None else options.max_retries
    content = encoded(given(parameters))
    clock = connection.begin(options.call_timeout_seconds)

    async def attempts() -> dict[str, object]:
        sent = 0
        while True:
            try:
                return await _send(connection, tool, content, key, clock, options)
            except SandhavenError as error:
                if sent >= retries or not may_repeat(error, tool.repeatable or key is not None):
                    raise
                pause = pause_seconds(sent, error.retry_after_seconds)
            await clock.pause(pause)
            sent += 1

    return await clock.run(attempts)


def encoded(parameters: Mapping[str, object]) -> bytes:
    """Refuses values that JSON does not have, before anything is sent."""
    try:
        return json.dumps(parameters, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError):
        hint = "Give text, numbers, booleans, lists and dicts."
        raise invalid_argument("parameters", "A parameter cannot be written as JSON.", hint) from None


async def _send(
    connection: AsyncConnection,
    tool: ToolFacts,
    content: bytes,
    key: str | None,
    clock: AsyncClock,
    options: CallOptions,
) -> dict[str, object]:
    headers = {
        "Content-Type": "application/json",
        "Accept": "text/event-stream" if tool.long else "application/json",
    }
    if key is not None:
        headers["Idempotency-Key"] = key
    output = Output(options.on_output, options.on_stdout, options.on_stderr)
    path = f"/v1/tools/{tool.name}" + ("?output=bytes" if tool.long and output.listens else "")
    response = await connection.send("POST", path, clock, headers=headers, content=content)
    try:
        with connection.explaining(clock):
            return await _result_of(connection, response, clock, options, output)
    finally:
        await response.aclose()


async def _result_of(
    connection: AsyncConnection, response: httpx.Response, clock: AsyncClock, options: CallOptions, output: Output
) -> dict[str, object]:
    kind = response.headers.get("content-type", "")
    if response.is_success and kind.startswith("text/event-stream"):
        return await _streamed(response, clock, options, output)
    if response.is_success and kind.startswith("application/json"):
        return await connection.object_of(response, clock, _bodies.MAX_RESULT_BYTES)
    raise await connection.failure_of(response, clock)


async def _streamed(
    response: httpx.Response, clock: AsyncClock, options: CallOptions, output: Output
) -> dict[str, object]:
    reader = EventReader(_bodies.MAX_RESULT_BYTES)
    with clock.watching(response):
        async for chunk in response.aiter_raw():
            for event in reader.feed(chunk):
                piece = piece_of(event.data) if event.event == "output" and output.listens else None
                if piece is not None:
                    for returned in output.of(piece):
                        await Heard(returned)
                if event.event in ("result", "error"):
                    for returned in output.rest():
                        await Heard(returned)
                result = settle(event, options)
                if result is not None:
                    return result
    raise _bodies.UnreadableError("the stream ended without a result")
