from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from driver import Driver
from scripted_service import ScriptedService

Connect = Callable[..., Driver]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SANDBOX_API_URL", "SANDBOX_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def service() -> Iterator[ScriptedService]:
    service = ScriptedService()
    yield service
    service.close()


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def connect(kind: str, service: ScriptedService) -> Iterator[Connect]:
    drivers: list[Driver] = []

    def connect(**options: Any) -> Driver:
        drivers.append(Driver(kind, **{"url": service.url, "api_key": "key", **options}))
        return drivers[-1]

    yield connect
    for driver in drivers:
        driver.close()


@pytest.fixture
def client(connect: Connect) -> Driver:
    return connect()
