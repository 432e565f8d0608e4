"""Processes that go on without their client."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest
from conftest import Connect
from driver import Driver
from scripted_service import ScriptedService, broken, events, problem, result

from sandhaven import AsyncSandhaven, OutputPiece, PermissionDeniedError, UnavailableError


def event(name: str, data: object) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


def begin(position: int) -> str:
    return event("begin", {"from": position})


def output(data: bytes, stream: str = "stdout") -> str:
    return event("output", {"stream": stream, "base64": base64.b64encode(data).decode()})


ENDED = {"exit_code": 3, "signal": None, "timed_out": False}
END = event("result", ENDED)


def asked(service: ScriptedService) -> list[str]:
    return [path.removeprefix("/v1/sandboxes/my%20box/processes/") for _, path, _, _ in service.asked]


def follow(client: Driver, **options: Any) -> Any:
    return client.call(lambda c: c.sandbox("my box").processes.get("web").follow(**options))


def test_are_started_listed_and_found(service: ScriptedService, client: Driver) -> None:
    service.answers(result({"process": "120", "pid": 120}), result({"processes": [{"pid": 120}]}))
    box = client.client.sandbox("my box")
    options = {"cwd": "app", "env": {"A": "b"}, "user": "ann", "tag": "web", "timeout_seconds": 60, "cols": 80}
    started = client.call(lambda _: box.processes.start("npm start", **options, rows=24))
    assert (started.id, started.pid) == ("120", 120)
    assert client.call(lambda _: box.processes.list()) == [{"pid": 120}]
    assert [box.processes.get("web").pid, box.processes.get(7).pid] == [None, 7]
    assert service.bodies() == [
        {"sandbox": "my box", "command": "npm start", **options, "rows": 24},
        {"sandbox": "my box"},
    ]
    assert asked(service) == ["/v1/admin/StartProcess", "/v1/admin/ListProcesses"]


def test_get_input_and_signals_another_size_and_an_end(service: ScriptedService, client: Driver) -> None:
    service.answers(*[result({})] * 6)
    web = client.client.sandbox("demo").processes.get("web")
    client.call(lambda _: web.write("yes\n"))
    client.call(lambda _: web.write(b"\x00\xff\n"))
    client.call(lambda _: web.close_input())
    client.call(lambda _: web.signal("TERM"))
    client.call(lambda _: web.resize(80, 24))
    client.call(lambda _: web.end())
    names = ["SendProcessInput"] * 3 + ["SignalProcess", "ResizeProcess", "EndProcess"]
    assert asked(service) == [f"/v1/admin/{name}" for name in names]
    of = {"sandbox": "demo", "process": "web"}
    assert service.bodies() == [
        {**of, "input": "yes\n"},
        {**of, "input": "AP8K", "encoding": "base64"},
        {**of, "input": "", "close_input": True},
        {**of, "signal": "TERM"},
        {**of, "cols": 80, "rows": 24},
        of,
    ]


def test_hand_on_each_stream_until_the_end_which_is_the_result(service: ScriptedService, client: Driver) -> None:
    texts = output(b"a\n") + output("é".encode(), "stderr")
    service.answers(events(begin(0), ": \n\n", texts, event("later", {}), output(b"b"), END))
    seen: list[object] = []
    ended = follow(
        client,
        on_stdout=lambda text, left_out: seen.append(["stdout", text, left_out]),
        on_stderr=lambda text, left_out: seen.append(["stderr", text, left_out]),
    )
    assert ended == ENDED
    assert seen == [["stdout", "a\n", 0], ["stderr", "é", 0], ["stdout", "b", 0]]
    assert asked(service) == ["web/output?from=0"]


def test_need_no_listener_to_be_followed(service: ScriptedService, client: Driver) -> None:
    service.answers(events(begin(0), output(b"a"), END))
    assert follow(client) == ENDED


def test_go_on_where_they_were_within_a_character(service: ScriptedService, client: Driver) -> None:
    stops = {"code": "unavailable", "status": 503, "detail": "It stops.", "retryable": True}
    service.answers(
        events(begin(10), output(b"\xe2\x82"), output(b"x", "stderr"), output(b"lost")[:-9], then=lambda e: e.drop()),
        broken,
        events(event("error", stops)),
        events(begin(13), output(b"\xac")),
        events(begin(14), END),
    )
    pieces: list[OutputPiece] = []
    texts: list[str] = []
    assert follow(client, start=10, on_output=pieces.append, on_stdout=lambda text, _: texts.append(text)) == ENDED
    assert b"".join(piece.data for piece in pieces) == b"\xe2\x82x\xac"
    assert texts == ["€"]
    assert asked(service) == [f"web/output?from={position}" for position in (10, 13, 13, 13, 14)]


def test_count_what_is_forgotten(service: ScriptedService, client: Driver) -> None:
    service.answers(events(begin(7), output(b"a")), events(begin(20), output(b"b"), output(b"c"), END))
    seen: list[object] = []
    follow(client, on_stdout=lambda text, left_out: seen.append([text, left_out]))
    assert seen == [["a", 7], ["b", 12], ["c", 0]]


def test_end_with_an_error_that_no_other_attempt_changes(service: ScriptedService, client: Driver) -> None:
    gone = {"code": "not_found", "status": 404, "detail": "Gone."}
    service.answers(events(begin(0), event("error", gone)), problem("permission_denied", 403))
    assert client.failure(lambda c: c.processes.get("a", "web").follow()).code == "not_found"
    with pytest.raises(PermissionDeniedError):
        follow(client)


def test_are_tried_no_more_often_than_a_call_before_they_have_begun(service: ScriptedService, connect: Connect) -> None:
    client = connect(max_retries=1)
    service.answers(broken, broken, events(": \n\n"), events())
    for _ in range(2):
        with pytest.raises(UnavailableError):
            follow(client)
    assert len(service.asked) == 4


def test_raise_what_a_listener_raises_once(service: ScriptedService, client: Driver) -> None:
    def refuse(text: str, left_out_bytes: int) -> None:
        raise UnavailableError({"code": "unavailable", "status": 0, "detail": text, "retryable": True})

    service.answers(events(begin(0), output(b"a"), END))
    with pytest.raises(UnavailableError, match="a"):
        follow(client, on_stdout=refuse)
    assert len(service.asked) == 1


def test_wait_in_asyncio_for_a_listener_that_is_awaited(service: ScriptedService) -> None:
    service.answers(events(begin(0), output(b"a"), output(b"b"), END))
    seen: list[str] = []

    async def take(piece: OutputPiece) -> None:
        seen.append("begun")
        await asyncio.sleep(0)
        seen.append(piece.data.decode())

    async def call() -> None:
        async with AsyncSandhaven(url=service.url, api_key="key") as client:
            await client.processes.get("demo", "web").follow(on_output=take)

    asyncio.run(call())
    assert seen == ["begun", "a", "begun", "b"]
