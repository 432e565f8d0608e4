"""Builds of snapshots from Dockerfiles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from driver import Driver
from scripted_service import Answer, Exchange, ScriptedService, problem

from sandhaven import InvalidArgumentError, UnavailableError

STEP = {"event": "step", "step": 1, "of": 2, "stage": "0", "line": 1, "text": "RUN make", "cached": False}
OUTPUT = {"event": "output", "stream": "stdout", "text": "é\n"}
RESULT = {"event": "result", "snapshot": {"id": "snap_1", "name": "tools"}}
FAILED = {"event": "failed", "line": 3, "exit_code": 2}
PROBLEM = {"code": "failed_precondition", "status": 400, "detail": "Line 3 ended with exit code 2.", "retryable": False}


def lines(*events: dict[str, Any], cut_at: int = 7) -> Answer:
    """In pieces that end anywhere, with empty lines between the events."""
    text = "".join(f"{json.dumps(event, ensure_ascii=False)}\n\n" for event in events).encode()

    def answer(exchange: Exchange) -> None:
        exchange.start(200, content_type="application/x-ndjson", transfer_encoding="chunked")
        for at in range(0, len(text), cut_at):
            exchange.piece(text[at : at + cut_at])
        exchange.wfile.write(b"0\r\n\r\n")

    return answer


def test_send_the_context_and_give_the_snapshot(service: ScriptedService, client: Driver) -> None:
    service.answers(lines(STEP, OUTPUT, RESULT))
    heard: list[Any] = []
    settings = {"file": "docker/Dockerfile", "target": "test", "build_args": {"A": "1 2", "B": ""}, "cache": False}
    tar: Iterator[bytes] = iter([b"ta", b"r"])
    given = client.call(lambda c: c.build(name="tools", context=tar, **settings, on_event=heard.append))
    assert given == {"id": "snap_1", "name": "tools"}
    assert heard == [STEP, OUTPUT]
    [asked] = service.asked
    query = "name=tools&file=docker%2FDockerfile&target=test&cache=false&build_arg=A%3D1+2&build_arg=B%3D"
    assert (asked.method, asked.path, asked.body) == ("POST", f"/v1/builds?{query}", "tar")
    assert asked.headers["content-type"] == "application/x-tar"


def test_fail_with_the_error_of_the_service(service: ScriptedService, client: Driver) -> None:
    service.answers(lines(STEP, FAILED, {"event": "error", "problem": PROBLEM}), problem("invalid_argument", 400))
    heard: list[Any] = []
    error = client.failure(lambda c: c.build(name="tools", context=b"tar", on_event=heard.append))
    assert (error.code, error.detail) == ("failed_precondition", "Line 3 ended with exit code 2.")
    assert heard == [STEP, FAILED]
    assert isinstance(client.failure(lambda c: c.build(name="", context=b"tar")), InvalidArgumentError)
    assert len(service.asked) == 2


@pytest.mark.parametrize("events", [[STEP], []])
def test_fail_when_the_answer_ends_early(service: ScriptedService, client: Driver, events: list[Any]) -> None:
    service.answers(lines(*events))
    assert isinstance(client.failure(lambda c: c.build(name="tools", context=b"tar")), UnavailableError)
    assert len(service.asked) == 1


def test_wait_for_an_asynchronous_listener(service: ScriptedService) -> None:
    async def listen(event: Any) -> None:
        heard.append(event["event"])

    heard: list[str] = []
    client = Driver("async", url=service.url, api_key="key")
    service.answers(lines(STEP, RESULT))
    client.call(lambda c: c.build(name="tools", context=b"tar", on_event=listen))
    assert heard == ["step"]
    client.close()
