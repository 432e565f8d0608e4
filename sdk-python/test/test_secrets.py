"""The key is where it is needed, and nowhere else."""

from __future__ import annotations

import logging
import traceback

import pytest
from conftest import Connect
from driver import Driver
from scripted_service import ScriptedService, broken, problem, result

KEY = "shv_very-secret-key"


def test_is_in_no_text_of_client_error_or_log(
    service: ScriptedService, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    client = connect(api_key=KEY)
    service.answers(result({}), problem("not_found", 404), broken)
    client.call(lambda c: c.who_am_i())
    refused = client.failure(lambda c: c.get_sandbox(sandbox="x"))
    cut_off = client.failure(lambda c: c.run_command(command="ls"))
    assert [asked.headers["authorization"] for asked in service.asked] == [f"Bearer {KEY}"] * 3
    inner = client.client
    connection = inner._connection
    texts = [repr(part) for part in (inner, connection, inner.files, inner.administration, connection._client)]
    texts += [repr(vars(connection)), repr(vars(connection._client))]
    for error in (refused, cut_off):
        texts += [str(error), repr(error), repr(vars(error)), "".join(traceback.format_exception(error))]
        texts += locals_of(error)
    texts += [record.getMessage() for record in caplog.records]
    assert len(caplog.records) > 0
    assert [text for text in texts if KEY in text] == []


def locals_of(error: BaseException | None) -> list[str]:
    """Variables of all frames, as reports of errors collect them."""
    found = []
    while error is not None:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if "/sandhaven/" in frame.f_code.co_filename or "/httpx/" in frame.f_code.co_filename:
                found.append(repr(frame.f_locals))
        error = error.__cause__
    return found


@pytest.mark.parametrize("key", ["shv_\u0000very-secret", "shv_very-secret\nx: y", "shv_schlüssel-very-secret"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(kind: str, key: str) -> None:
    with pytest.raises(Exception, match="characters that no key has") as raised:
        Driver(kind, api_key=key)
    assert "very-secret" not in "".join(traceback.format_exception(raised.value))


def test_goes_to_no_proxy_of_the_environment_when_the_service_is_on_this_machine(
    service: ScriptedService, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    service.answers(result({"user_id": "u"}))
    assert connect(api_key=KEY).call(lambda c: c.who_am_i()) == {"user_id": "u"}
