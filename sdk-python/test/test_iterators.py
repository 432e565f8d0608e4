"""Iterators over lists that have pages."""

from __future__ import annotations

import pytest
from driver import Driver
from scripted_service import Answer, ScriptedService, problem, result

from sandhaven import PermissionDeniedError


def page(number: int) -> Answer:
    return result({"sandboxes": [{"name": f"a{number}"}, {"name": f"b{number}"}], "total_pages": 2})


def test_walk_over_numbered_pages(service: ScriptedService, client: Driver) -> None:
    service.answers(page(1), page(2))
    found = client.all(lambda c: c.iterate.list_sandboxes(state="started", page_size=2))
    assert [sandbox["name"] for sandbox in found] == ["a1", "b1", "a2", "b2"]
    assert service.bodies() == [
        {"state": "started", "page": 1, "page_size": 2},
        {"state": "started", "page": 2, "page_size": 2},
    ]


def test_ask_for_the_next_page_only_when_it_is_wanted(service: ScriptedService, client: Driver) -> None:
    service.answers(page(1), page(2))
    assert client.first(2, lambda c: c.iterate.list_sandboxes()) == [{"name": "a1"}, {"name": "b1"}]
    assert len(service.asked) == 1


def test_walk_over_offsets_by_what_each_page_held(service: ScriptedService, client: Driver) -> None:
    service.answers(result({"paths": ["a", "b"], "has_more": True}), result({"paths": ["c"], "has_more": False}))
    assert client.all(lambda c: c.iterate.find_files(pattern="*", offset=3)) == ["a", "b", "c"]
    assert [body["offset"] for body in service.bodies()] == [3, 5]


def test_end_where_a_page_promises_more_and_has_nothing(service: ScriptedService, client: Driver) -> None:
    service.answers(result({"files": [], "has_more": True}))
    assert client.all(lambda c: c.iterate.list_files()) == []


def test_end_where_there_is_nothing_and_raise_what_a_page_raises(service: ScriptedService, client: Driver) -> None:
    service.answers(result({"sandboxes": [], "total_pages": 0}))
    assert client.all(lambda c: c.iterate.list_sandboxes()) == []
    service.answers(problem("permission_denied", 403))
    with pytest.raises(PermissionDeniedError):
        client.all(lambda c: c.iterate.list_sandboxes())
