"""Calls that are read as events: progress, output, result."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from driver import Driver
from scripted_service import ScriptedService, events

from sandhaven import AsyncSandhaven, OutputPiece

RESULT = 'event: result\ndata: {"output":"all"}\n\n'


def run(client: Driver, **options: Any) -> Any:
    return client.call(lambda c: c.run_command(command="make", **options))


def test_are_read_as_events_progress_on_the_way(service: ScriptedService, client: Driver) -> None:
    service.answers(
        events(
            ": the call is in progress\n\n",
            'event: progress\ndata: {"message":"Pul',
            'ling","done":1,"total":2}\n\nevent: prog',
            'ress\ndata: {"message":"Starting"}\n\n: \n\nevent: result\ndata: {"output":"ä',
            '✓"}\n\n',
        )
    )
    seen: list[object] = []
    assert run(client, on_progress=seen.append) == {"output": "ä✓"}
    assert seen == [{"message": "Pulling", "done": 1, "total": 2}, {"message": "Starting"}]
    assert service.asked[0].headers["accept"] == "text/event-stream"


def test_hand_on_what_a_program_prints_each_stream_to_its_own_listener(
    service: ScriptedService, client: Driver
) -> None:
    service.answers(
        events(
            'event: output\ndata: {"stream":"stdout","text":"a\\n"}\n\n',
            'event: output\ndata: {"stream":"stderr","text":"é","left_out_bytes":7}\n\nevent: output\nda',
            'ta: {"stream":"stdout","text":"b"}\n\nevent: later\ndata: {}\n\n' + RESULT,
        )
    )
    seen: list[object] = []
    ran = run(
        client,
        on_stdout=lambda text, left_out_bytes: seen.append(["stdout", text, left_out_bytes]),
        on_stderr=lambda text, left_out_bytes: seen.append(["stderr", text, left_out_bytes]),
    )
    assert ran == {"output": "all"}
    assert seen == [["stdout", "a\n", 0], ["stderr", "é", 7], ["stdout", "b", 0]]


def test_hand_on_the_bytes_of_a_program_and_its_text_in_whole_characters(
    service: ScriptedService, client: Driver
) -> None:
    service.answers(
        events(
            'event: output\ndata: {"stream":"stdout","base64":"4oI="}\n\n',
            'event: output\ndata: {"stream":"stdout","base64":"rP8A","left_out_bytes":7}\n\n',
            'event: output\ndata: {"stream":"stderr","base64":"4oI="}\n\n' + RESULT,
        )
    )
    seen: list[object] = []
    run(
        client,
        on_output=lambda piece: seen.append([piece.stream, piece.data, piece.left_out_bytes]),
        on_stdout=lambda text, left_out_bytes: seen.append([text, left_out_bytes]),
        on_stderr=lambda text, left_out_bytes: seen.append([text, left_out_bytes]),
    )
    assert seen == [
        ["stdout", b"\xe2\x82", 0],
        ["stdout", b"\xac\xff\x00", 7],
        ["€\ufffd\0", 7],
        ["stderr", b"\xe2\x82", 0],
        ["\ufffd", 0],
    ]
    assert service.asked[0].path.endswith("?output=bytes")


def test_wait_in_asyncio_for_a_listener_that_is_awaited(service: ScriptedService) -> None:
    piece = 'event: output\ndata: {"stream":"stdout","base64":"eA=="}\n\n'
    service.answers(events(piece, piece, RESULT))
    seen: list[str] = []

    async def take(output: OutputPiece) -> None:
        seen.append("begun")
        await asyncio.sleep(0)
        seen.append(output.data.decode())

    async def call() -> None:
        async with AsyncSandhaven(url=service.url, api_key="key") as client:
            await client.run_command(command="make", on_output=take)

    asyncio.run(call())
    assert seen == ["begun", "x", "begun", "x"]


def test_need_no_listener(service: ScriptedService, client: Driver) -> None:
    service.answers(events('event: output\ndata: {"stream":"stdout","text":"a"}\n\n', RESULT))
    assert run(client) == {"output": "all"}


def test_raise_what_a_listener_raises(service: ScriptedService, client: Driver) -> None:
    def refuse(text: str, left_out_bytes: int) -> None:
        raise KeyError(text)

    service.answers(events('event: output\ndata: {"stream":"stdout","text":"a"}\n\n', RESULT))
    with pytest.raises(KeyError):
        run(client, on_stdout=refuse)


def test_raise_the_error_that_the_stream_ends_with(service: ScriptedService, client: Driver) -> None:
    problem = {"code": "timeout", "status": 504, "detail": "Late.", "retryable": False}
    service.answers(events(f"event: error\ndata: {json.dumps(problem)}\n\n"))
    error = client.failure(lambda c: c.run_command(command="make"))
    assert (error.code, error.status) == ("timeout", 504)


def test_raise_where_the_stream_ends_with_nothing(service: ScriptedService, client: Driver) -> None:
    service.answers(events(": the call is in progress\n\n", 'event: result\ndata: {"output":'))
    error = client.failure(lambda c: c.run_command(command="make"))
    assert (error.code, error.status) == ("unavailable", 0)


def test_read_a_result_of_megabytes_that_comes_in_pieces(service: ScriptedService, client: Driver) -> None:
    output = "x" * 4_000_000
    service.answers(events("event: result\ndata: ", json.dumps({"output": output}), "\n\n"))
    assert run(client) == {"output": output}
