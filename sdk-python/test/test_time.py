"""Time limits, and calls that are left."""

from __future__ import annotations

import asyncio
import time

import pytest
from conftest import Connect
from driver import Driver
from scripted_service import Exchange, ScriptedService, events, foreign, result, silent, unavailable

from sandhaven import AsyncSandhaven, TimedOutError


def keep_alive(exchange: Exchange) -> None:
    """Signs of life for ever, and no result."""
    while True:
        exchange.piece(b": \n\n")
        time.sleep(0.01)


def test_a_call_has_a_time_limit_the_clients_or_its_own(service: ScriptedService, connect: Connect) -> None:
    service.answers(silent, silent)
    error = connect().failure(lambda c: c.who_am_i(call_timeout_seconds=0.05))
    assert type(error) is TimedOutError
    assert (error.code, error.status) == ("timeout", 0)
    assert connect(call_timeout_seconds=0.05).failure(lambda c: c.who_am_i()).code == "timeout"


def test_signs_of_life_do_not_extend_it(service: ScriptedService, client: Driver) -> None:
    service.answers(events(then=keep_alive))
    error = client.failure(lambda c: c.run_command(command="make", call_timeout_seconds=0.3))
    assert error.code == "timeout"


def test_nor_does_a_body_that_trickles(service: ScriptedService, client: Driver) -> None:
    def trickle(exchange: Exchange) -> None:
        exchange.start(200, content_type="application/json", transfer_encoding="chunked")
        keep_alive(exchange)

    service.answers(trickle)
    assert client.failure(lambda c: c.who_am_i(call_timeout_seconds=0.3, max_retries=0)).code == "timeout"


def test_nor_do_retries(service: ScriptedService, client: Driver) -> None:
    service.answers(*[unavailable] * 100)
    assert client.failure(lambda c: c.who_am_i(call_timeout_seconds=0.6, max_retries=100)).code == "timeout"


def test_a_call_goes_on_where_another_ended_on_its_connection(service: ScriptedService, client: Driver) -> None:
    service.answers(events(then=keep_alive), *[result({"user_id": "u"})] * 20)
    assert client.failure(lambda c: c.run_command(command="make", call_timeout_seconds=0.1)).code == "timeout"
    for _ in range(20):
        assert client.call(lambda c: c.who_am_i(call_timeout_seconds=60)) == {"user_id": "u"}


def test_a_task_that_is_cancelled_leaves_the_call(service: ScriptedService) -> None:
    service.answers(silent)

    async def cancel() -> None:
        async with AsyncSandhaven(url=service.url, api_key="key") as client:
            call = asyncio.create_task(client.run_command(command="sleep 100"))
            while not service.asked:
                await asyncio.sleep(0.01)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    asyncio.run(cancel())
    assert service.left.wait(10)


def test_a_with_closes_the_connections(service: ScriptedService, kind: str) -> None:
    service.answers(foreign(200, b"{}", "application/json"))
    driver = Driver(kind, url=service.url, api_key="key")

    async def use() -> None:
        async with driver.client as client:
            await client.who_am_i()

    if driver.is_async:
        driver.call(lambda _: use())
    else:
        with driver.client as client:
            client.who_am_i()
    with pytest.raises(RuntimeError):
        driver.call(lambda c: c.who_am_i())
