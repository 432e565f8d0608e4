"""Changes of files as they happen."""

from __future__ import annotations

import json
from contextlib import aclosing, closing
from typing import Any, cast

import pytest
from driver import Driver
from scripted_service import ScriptedService, broken, events, problem

from sandhaven import AsyncSandhaven, NotFoundError, ResourceExhaustedError


def event(name: str, data: object) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


def changes(*of: object) -> str:
    return event("changes", {"changes": of})


def created(path: str) -> dict[str, object]:
    return {"type": "created", "path": path, "folder": False}


BEGIN = event("begin", {})
GONE = event("result", {"gone": True})
READY = {"type": "ready"}
OVERFLOW = {"type": "overflow"}


def watch(client: Driver, path: str = ".", **options: Any) -> list[Any]:
    def all_of(c: Any) -> Any:
        watched = c.sandbox("my box").files.watch(path, **options)
        if not isinstance(c, AsyncSandhaven):
            return list(watched)

        async def gather() -> list[Any]:
            return [change async for change in watched]

        return gather()

    return cast("list[Any]", client.call(all_of))


def test_come_one_by_one_after_the_watch_is_ready_until_the_folder_is_gone(
    service: ScriptedService, client: Driver
) -> None:
    renamed = {"type": "renamed", "path": "src/b", "from": "src/a", "folder": True}
    service.answers(events(BEGIN, changes(created("src/a"), renamed), event("later", {}), changes(OVERFLOW), GONE))
    seen = watch(client, "src", recursive=True, user="ann")
    assert seen == [READY, created("src/a"), renamed, OVERFLOW]
    path = "/v1/sandboxes/my%20box/files/watch?path=src&recursive=true&user=ann"
    assert [asked[1] for asked in service.asked] == [path]


def test_go_on_over_a_new_connection_with_an_overflow_in_place_of_what_was_missed(
    service: ScriptedService, client: Driver
) -> None:
    stops = {"code": "unavailable", "status": 503, "detail": "It stops.", "retryable": True}
    service.answers(
        events(BEGIN, changes(created("a")), changes(created("lost"))[:-9], then=lambda e: e.drop()),
        broken,
        events(BEGIN, event("error", stops)),
        events(BEGIN, changes(created("b")), GONE),
    )
    assert watch(client) == [READY, created("a"), OVERFLOW, OVERFLOW, created("b")]


def test_end_with_an_error_that_does_not_pass(service: ScriptedService, client: Driver) -> None:
    many = {"code": "resource_exhausted", "status": 429, "detail": "Too many folders.", "title": "x"}
    service.answers(problem("not_found", 404), events(BEGIN, event("error", many)))
    with pytest.raises(NotFoundError):
        watch(client)
    with pytest.raises(ResourceExhaustedError):
        watch(client)


def test_end_with_the_loop_that_reads_them(service: ScriptedService, client: Driver) -> None:
    service.answers(events(BEGIN, changes(created("a")), GONE))

    def first(c: Any) -> Any:
        watched = c.files.watch("my box")
        if not isinstance(c, AsyncSandhaven):
            with closing(watched):
                return next(watched)

        async def read() -> Any:
            async with aclosing(watched):
                return await anext(watched)

        return read()

    assert client.call(first) == READY
