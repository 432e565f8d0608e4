"""Answers of something that is no service, or none of good will."""

from __future__ import annotations

import gzip

import pytest
from driver import Driver
from scripted_service import Exchange, ScriptedService, events, foreign, result

from sandhaven import _bodies
from sandhaven._bodies import UnreadableError
from sandhaven._events import EventReader

JSON = "application/json"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe{}",
        b'{"a":NaN}',
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"1" * 10_000,
        gzip.compress(b"{}"),
    ],
    ids=["nothing", "a part", "no text", "no number", "deep lists", "deep objects", "a long number", "packed"],
)
def test_garbage_is_no_result(service: ScriptedService, client: Driver, body: bytes) -> None:
    service.answers(foreign(200, body, JSON))
    error = client.failure(lambda c: c.who_am_i(max_retries=0))
    assert (error.code, error.status) == ("unavailable", 0)
    assert len(str(error)) < 200


@pytest.mark.parametrize("body", [[], None, "text", 3, True])
def test_what_is_no_object_is_no_result(service: ScriptedService, client: Driver, body: object) -> None:
    service.answers(result(body))
    error = client.failure(lambda c: c.who_am_i(max_retries=0))
    assert (error.code, error.status, error.retryable) == ("internal", 200, False)


@pytest.mark.parametrize("data", ["[]", "3", "null"])
def test_nor_in_a_stream(service: ScriptedService, client: Driver, data: str) -> None:
    service.answers(events(f"event: result\ndata: {data}\n\n"))
    assert client.failure(lambda c: c.run_command(command="ls")).code == "internal"


@pytest.mark.parametrize(
    "data",
    [
        '{"stream":"stdout","text":3}',
        '{"stream":"stdout","base64":"?"}',
        '{"stream":"stdlog","text":"a"}',
        '{"stream":"stdout","text":"a","left_out_bytes":"7"}',
        '{"stream":"stdout"}',
    ],
)
def test_output_of_wrong_types_reaches_no_listener(service: ScriptedService, client: Driver, data: str) -> None:
    service.answers(events(f"event: output\ndata: {data}\n\n", 'event: result\ndata: {"output":"all"}\n\n'))
    seen: list[object] = []
    ran = client.call(lambda c: c.run_command(command="ls", on_stdout=lambda *given: seen.append(given)))
    assert (ran, seen) == ({"output": "all"}, [])


@pytest.mark.parametrize(
    "body",
    [
        b'{"code":5,"detail":"x","status":404}',
        b'{"code":"not_found","detail":null,"status":404}',
        b'{"code":"not_found","detail":"x","status":"404"}',
        b'{"code":"not_found","detail":"x","status":true}',
        b"[]",
        b"[" * 200_000,
    ],
)
def test_a_problem_of_wrong_types_is_a_foreign_answer(service: ScriptedService, client: Driver, body: bytes) -> None:
    service.answers(foreign(404, body, "application/problem+json"))
    error = client.failure(lambda c: c.who_am_i())
    assert (error.code, error.status) == ("internal", 404)


def test_fields_of_wrong_types_are_dropped(service: ScriptedService, client: Driver) -> None:
    body = (
        b'{"code":"resource_exhausted","detail":"x","status":429,"retryable":"yes","hint":7,'
        b'"retry_after_seconds":-5,"request_id":{},"authorization_url":[]}'
    )
    service.answers(foreign(429, body, "application/problem+json"))
    error = client.failure(lambda c: c.who_am_i())
    assert (error.code, error.retryable, error.hint, error.request_id) == ("resource_exhausted", False, None, None)
    assert (error.retry_after_seconds, error.authorization_url) == (None, None)


def endless(exchange: Exchange, piece: bytes) -> None:
    while True:
        exchange.piece(piece)


def test_a_result_without_an_end_is_given_up(
    service: ScriptedService, client: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_bodies, "MAX_RESULT_BYTES", 1_000_000)

    def whole(exchange: Exchange) -> None:
        exchange.start(200, content_type=JSON, transfer_encoding="chunked")
        endless(exchange, b" " * 65536)

    service.answers(whole, events("event: result\ndata: ", then=lambda exchange: endless(exchange, b"x" * 65536)))
    assert client.failure(lambda c: c.who_am_i(max_retries=0)).code == "unavailable"
    assert client.failure(lambda c: c.run_command(command="ls")).code == "unavailable"


def test_a_problem_without_an_end_is_given_up(service: ScriptedService, client: Driver) -> None:
    def refused(exchange: Exchange) -> None:
        exchange.start(403, content_type="application/problem+json", transfer_encoding="chunked")
        endless(exchange, b" " * 65536)

    service.answers(refused, refused)
    error = client.failure(lambda c: c.who_am_i(max_retries=0))
    assert (error.code, error.status) == ("internal", 403)
    assert client.failure(lambda c: c.files.download("demo", "a")).status == 403


def test_a_stream_has_no_bound_but_that_of_each_event() -> None:
    reader = EventReader(max_event_bytes=16)
    for _ in range(3):
        assert [data for _, data in reader.feed(b"data:0123456789\n\n")] == [b"0123456789"]
    with pytest.raises(UnreadableError):
        list(reader.feed(b"data:0123456789ab\n\n"))


def test_the_real_bounds_hold_what_the_service_gives() -> None:
    assert (_bodies.MAX_RESULT_BYTES, _bodies.MAX_PROBLEM_BYTES) == (268_435_456, 1_048_576)


def test_what_is_no_http_is_no_answer(service: ScriptedService, client: Driver) -> None:
    def rude(exchange: Exchange) -> None:
        exchange.wfile.write(b"SSH-2.0-OpenSSH\r\n")
        exchange.drop()

    service.answers(rude)
    assert client.failure(lambda c: c.who_am_i(max_retries=0)).code == "unavailable"


def test_a_length_that_is_no_number_is_no_size(service: ScriptedService, client: Driver) -> None:
    def odd(exchange: Exchange) -> None:
        exchange.start(200, transfer_encoding="chunked")
        exchange.wfile.write(b"0\r\n\r\n")

    service.answers(odd)
    assert client.call(lambda c: c.files.download("demo", "a")).size is None
