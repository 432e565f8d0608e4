"""Retries, where they are safe."""

from __future__ import annotations

import re

import pytest
from driver import Driver
from scripted_service import Answer, ScriptedService, broken, foreign, problem, result, unavailable

from sandhaven import _calls

failures = pytest.mark.parametrize("failure", [unavailable, broken], ids=["a retryable error", "a broken connection"])


@failures
def test_a_call_that_may_be_repeated_is(service: ScriptedService, client: Driver, failure: Answer) -> None:
    service.answers(failure, failure, result({"total_count": 0}))
    assert client.call(lambda c: c.list_sandboxes()) == {"total_count": 0}
    assert len(service.asked) == 3


def test_end_after_as_many_as_were_allowed_with_the_last_error(service: ScriptedService, client: Driver) -> None:
    service.answers(unavailable, unavailable, unavailable)
    assert client.failure(lambda c: c.list_sandboxes(max_retries=1)).code == "unavailable"
    assert len(service.asked) == 2


@failures
def test_a_command_is_never_sent_twice(service: ScriptedService, client: Driver, failure: Answer) -> None:
    service.answers(failure, result({}))
    client.failure(lambda c: c.run_command(command="make deploy"))
    assert len(service.asked) == 1


def test_a_command_that_was_refused_at_the_door_is_sent_again(service: ScriptedService, client: Driver) -> None:
    refused = problem("resource_exhausted", 429, retryable=True, retry_after_seconds=0)
    service.answers(refused, foreign(200, b'{"output":"ok"}', "application/json"))
    assert client.call(lambda c: c.run_command(command="make deploy")) == {"output": "ok"}
    assert len(service.asked) == 2


def test_an_error_that_is_not_retryable_is_not_retried(service: ScriptedService, client: Driver) -> None:
    service.answers(problem("not_found", 404), result({}))
    client.failure(lambda c: c.get_sandbox(sandbox="x"))
    assert len(service.asked) == 1


def test_a_creation_is_repeated_under_one_key_and_another_creation_has_another(
    service: ScriptedService, client: Driver
) -> None:
    service.answers(broken, result({"id": "sb_1"}), result({"id": "sb_2"}), result({"id": "sb_3"}))
    client.call(lambda c: c.create_sandbox(name="one"))
    client.call(lambda c: c.create_sandbox(name="two"))
    client.call(lambda c: c.create_sandbox(name="three", idempotency_key="mine"))
    keys = [asked.headers["idempotency-key"] for asked in service.asked]
    assert re.fullmatch("[0-9a-f]{32}", keys[0])
    assert keys[1] == keys[0]
    assert keys[2] != keys[0]
    assert keys[3] == "mine"


@pytest.mark.parametrize("key", ["", "a b", "a\r\nb: c", "schlüssel"])
def test_a_key_that_cannot_be_sent_is_refused(service: ScriptedService, client: Driver, key: str) -> None:
    error = client.failure(lambda c: c.create_sandbox(idempotency_key=key))
    assert (error.code, error.parameter) == ("invalid_argument", "idempotency_key")
    assert service.asked == []


def test_no_other_tool_sends_a_key(service: ScriptedService, client: Driver) -> None:
    service.answers(result({}))
    client.call(lambda c: c.run_command(command="ls"))
    assert "idempotency-key" not in service.asked[0].headers


def test_pauses_double_and_are_never_shorter_than_the_service_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.random", lambda: 1.0)
    assert [_calls.pause_seconds(sent, None) for sent in (0, 1, 2, 5, 6, 2_000)] == [0.25, 0.5, 1.0, 8.0, 8.0, 8.0]
    assert _calls.pause_seconds(0, 3) == 3.0625
    monkeypatch.setattr("random.random", lambda: 0.0)
    assert _calls.pause_seconds(1, None) == 0.25
