"""Following changes."""

from __future__ import annotations

import json

import pytest
from driver import Driver
from scripted_service import ScriptedService, broken, events, problem, silent, unavailable

from sandhaven import UnauthenticatedError, _follow

READY = "event: ready\ndata: {}\n\n"
SANDBOX = 'event: sandbox\ndata: {"id":"sb_1","state":"started"}\n\n'
DELETED = 'event: sandbox_deleted\ndata: {"id":"sb_1"}\n\n'


def test_come_as_they_happen_with_a_refresh_first(service: ScriptedService, client: Driver) -> None:
    service.answers(events(READY, ": nothing new\n\n", SANDBOX, DELETED, "event: refresh\ndata: {}\n\n"))
    assert client.first(4, lambda c: c.changes()) == [
        {"type": "refresh"},
        {"type": "sandbox", "sandbox": {"id": "sb_1", "state": "started"}},
        {"type": "deleted", "id": "sb_1"},
        {"type": "refresh"},
    ]
    [asked] = service.asked
    assert (asked.method, asked.path, asked.headers["authorization"]) == ("GET", "/v1/events", "Bearer key")


@pytest.mark.parametrize(
    ("choice", "sent", "change"),
    [
        ("usage", ("usage", {"sandboxes": [{"id": "sb_1"}]}), {"type": "usage", "sandboxes": [{"id": "sb_1"}]}),
        ("health", ("health", {"doctor": None}), {"type": "health", "health": {"doctor": None}}),
        ("audit", ("audit", {"rows": [{"sequence": 1}]}), {"type": "audit", "rows": [{"sequence": 1}]}),
        ("audit", ("audit_missed", {}), {"type": "audit_missed"}),
        ("snapshots", ("snapshot", {"id": "s"}), {"type": "snapshot", "snapshot": {"id": "s"}}),
        ("snapshots", ("snapshot_deleted", {"id": "s"}), {"type": "snapshot_deleted", "id": "s"}),
        (
            "snapshots",
            ("snapshot_progress", {"id": "s", "message": "m", "done_bytes": 1, "total_bytes": None}),
            {"type": "snapshot_progress", "id": "s", "message": "m", "done_bytes": 1, "total_bytes": None},
        ),
    ],
)
def test_more_comes_to_those_who_ask_for_it(
    service: ScriptedService, client: Driver, choice: str, sent: tuple[str, object], change: object
) -> None:
    event, data = sent
    service.answers(events(READY, f"event: {event}\ndata: {json.dumps(data)}\n\n"))
    assert client.first(2, lambda c: c.changes(**{choice: True})) == [{"type": "refresh"}, change]
    assert service.asked[0].path == f"/v1/events?{choice}=true"


def test_a_network_log_comes_to_those_who_ask_for_it(service: ScriptedService, client: Driver) -> None:
    piece = {"sandbox": "sb_1", "events": [{"sequence": 5, "kind": "udp"}], "dropped": 0}
    service.answers(events(READY, f"event: network\ndata: {json.dumps(piece)}\n\n"))
    assert client.first(2, lambda c: c.changes(network="my box")) == [{"type": "refresh"}, {"type": "network", **piece}]
    assert service.asked[0].path == "/v1/events?network=my+box"


def test_go_on_after_an_end_a_break_and_a_refusal_that_passes(service: ScriptedService, client: Driver) -> None:
    service.answers(events(READY), broken, unavailable, events(READY, SANDBOX))
    assert client.first(3, lambda c: c.changes()) == [
        {"type": "refresh"},
        {"type": "refresh"},
        {"type": "sandbox", "sandbox": {"id": "sb_1", "state": "started"}},
    ]
    assert len(service.asked) == 4


def test_go_on_after_silence(service: ScriptedService, client: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_follow, "SILENCE_SECONDS", 1.0)
    # More than one that speaks, for a machine that is slow to answer.
    service.answers(events(READY, then=silent), *[events(READY, DELETED)] * 5)
    assert {"type": "deleted", "id": "sb_1"} in client.first(3, lambda c: c.changes())


def test_go_on_after_garbage(service: ScriptedService, client: Driver) -> None:
    service.answers(events(READY, "event: sandbox\ndata: {oops\n\n"), events(READY, DELETED))
    assert client.first(3, lambda c: c.changes())[2] == {"type": "deleted", "id": "sb_1"}


def test_skip_events_of_a_newer_service(service: ScriptedService, client: Driver) -> None:
    service.answers(events(READY, "event: other\ndata: {}\n\n", DELETED))
    assert client.first(2, lambda c: c.changes()) == [{"type": "refresh"}, {"type": "deleted", "id": "sb_1"}]


def test_end_with_an_error_that_no_other_attempt_changes(service: ScriptedService, client: Driver) -> None:
    service.answers(problem("unauthenticated", 401))
    with pytest.raises(UnauthenticatedError):
        client.first(1, lambda c: c.changes())


def test_leave_when_their_reader_does(service: ScriptedService, client: Driver) -> None:
    service.answers(events(READY, then=silent))
    assert client.first(1, lambda c: c.changes()) == [{"type": "refresh"}]
    client.until(service.left)
