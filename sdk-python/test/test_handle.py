"""The handle of one sandbox: what each method sends for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from driver import Driver
from scripted_service import ScriptedService, events, problem, result

from sandhaven import PermissionDeniedError


def paths(service: ScriptedService) -> list[str]:
    return [asked.path for asked in service.asked]


def test_is_that_of_the_sandbox_that_was_created(service: ScriptedService, client: Driver) -> None:
    service.answers(result({"id": "sb_1"}), result({"ports": []}))
    box = client.call(lambda c: c.create(name="demo"))
    client.call(lambda _: box.ports())
    assert box.id == "sb_1"
    assert service.bodies() == [{"name": "demo"}, {"sandbox": "sb_1"}]


def test_takes_what_a_tool_requires_by_position(service: ScriptedService, client: Driver) -> None:
    service.answers(events('event: output\ndata: {"stream":"stdout","base64":"YQ=="}\n\nevent: result\ndata: {}\n\n'))
    seen: list[str] = []
    client.call(
        lambda c: c.sandbox("demo").run("ls", cwd="app", timeout_seconds=9, on_stdout=lambda text, _: seen.append(text))
    )
    assert seen == ["a"]
    assert service.bodies() == [{"sandbox": "demo", "command": "ls", "cwd": "app", "timeout_seconds": 9}]


@pytest.mark.parametrize(
    ("tool", "call", "parameters"),
    [
        ("RunCode", lambda box: box.code.run("1"), {"code": "1"}),
        (
            "WriteFile",
            lambda box: box.files.write("a", "b", durable=True),
            {"path": "a", "content": "b", "durable": True},
        ),
        ("MoveFile", lambda box: box.files.move("a", "b"), {"source": "a", "destination": "b"}),
        ("GetFileInfo", lambda box: box.files.info("a"), {"path": "a"}),
        ("RunSessionCommand", lambda box: box.sessions.run("s", "ls"), {"session_id": "s", "command": "ls"}),
        ("GitCreateBranch", lambda box: box.git.create_branch("topic"), {"branch": "topic"}),
        ("SetSandboxLabels", lambda box: box.set_labels({"a": "b"}), {"labels": {"a": "b"}}),
    ],
)
def test_calls_the_tool(
    service: ScriptedService, client: Driver, tool: str, call: Callable[[Any], Any], parameters: dict[str, object]
) -> None:
    service.answers(result({}))
    client.call(lambda c: call(c.sandbox("demo")))
    assert paths(service) == [f"/v1/tools/Sandbox.{tool}"]
    assert service.bodies() == [{**parameters, "sandbox": "demo"}]


def test_streams_files_of_its_sandbox(service: ScriptedService, client: Driver) -> None:
    service.answers(result({"path": "a", "bytes_written": 1, "created": True}))
    client.call(lambda c: c.sandbox("demo").files.upload("a", "x"))
    assert paths(service) == ["/v1/sandboxes/demo/files?path=a"]


def test_shows_and_changes_details_of_files_and_deletes_sessions(service: ScriptedService, client: Driver) -> None:
    details = {"entries": [{"path": "b", "type": "symlink", "uid": 1000, "target": "c"}], "total_count": 1}
    changed = {"path": "a", "changed": True}
    deleted = {"session_id": "s", "deleted": True}
    service.answers(result(details), result(changed), result(deleted))
    box = client.client.sandbox("demo")
    attributes = {"user": "root", "mode": "640", "owner": "ann", "group": "50", "metadata": {"k": "v"}}
    assert client.call(lambda _: box.files.details("a", user="ann", depth=0, max_items=3, offset=1)) == details
    assert client.call(lambda _: box.files.set_attributes("a", **attributes)) == changed
    assert client.call(lambda _: box.sessions.delete("s")) == deleted
    assert [(path, body) for _, path, _, body in service.asked] == [
        (
            "/v1/admin/GetFileDetails",
            '{"sandbox":"demo","path":"a","user":"ann","depth":0,"max_items":3,"offset":1}',
        ),
        (
            "/v1/admin/SetFileAttributes",
            '{"sandbox":"demo","path":"a","user":"root","mode":"640","owner":"ann","group":"50","metadata":{"k":"v"}}',
        ),
        ("/v1/admin/DeleteSession", '{"sandbox":"demo","session_id":"s"}'),
    ]


def test_sets_and_removes_its_deadline(service: ScriptedService, client: Driver) -> None:
    at = {"sandbox": "sb_1", "deadline_at": "2030-01-01T00:00:00.000Z", "deadline_action": "delete"}
    none = {"sandbox": "sb_1", "deadline_at": None, "deadline_action": None}
    service.answers(result(at), result(none))
    box = client.client.sandbox("demo")
    assert client.call(lambda _: box.set_deadline(3600, action="delete")) == at
    assert client.call(lambda _: box.set_deadline(0)) == none
    assert [(path, body) for _, path, _, body in service.asked] == [
        ("/v1/admin/SetSandboxDeadline", '{"sandbox":"demo","seconds":3600,"action":"delete"}'),
        ("/v1/admin/SetSandboxDeadline", '{"sandbox":"demo","seconds":0}'),
    ]


def test_pauses_wakes_and_sets_its_sleep(service: ScriptedService, client: Driver) -> None:
    awake = {"sandbox": "sb_1", "asleep_since": None, "sleep_after_seconds": 60, "wake": True}
    asleep = {**awake, "asleep_since": "2030-01-01T00:00:00.000Z"}
    service.answers(result(asleep), result(awake), result(awake))
    box = client.client.sandbox("demo")
    assert client.call(lambda _: box.pause()) == asleep
    assert client.call(lambda _: box.resume()) == awake
    assert client.call(lambda _: box.set_sleep(after_seconds=60, wake=True)) == awake
    assert [(path, body) for _, path, _, body in service.asked] == [
        ("/v1/admin/PauseSandbox", '{"sandbox":"demo"}'),
        ("/v1/admin/ResumeSandbox", '{"sandbox":"demo"}'),
        ("/v1/admin/SetSandboxSleep", '{"sandbox":"demo","after_seconds":60,"wake":true}'),
    ]


def test_shows_what_it_has_used(service: ScriptedService, client: Driver) -> None:
    history = {"sandbox": "sb_1", "step_seconds": 10, "samples": [], "out_of_memory": []}
    service.answers(result(history))
    box = client.client.sandbox("demo")
    assert client.call(lambda _: box.usage_history()) == history
    assert [(path, body) for _, path, _, body in service.asked] == [("/v1/admin/GetUsageHistory", '{"sandbox":"demo"}')]


def test_makes_a_token_of_its_own(service: ScriptedService, client: Driver) -> None:
    made = {"sandbox": "sb_1", "token": "sbt_1", "token_id": "tok_1", "expires_at": "2030-01-01T00:00:00.000Z"}
    service.answers(result(made), result(made))
    box = client.client.sandbox("demo")
    assert client.call(lambda _: box.create_token(expires_in_minutes=5)) == made
    assert client.call(lambda _: box.create_token()) == made
    assert [(path, body) for _, path, _, body in service.asked] == [
        ("/v1/admin/CreateSandboxToken", '{"sandbox":"demo","expires_in_minutes":5}'),
        ("/v1/admin/CreateSandboxToken", '{"sandbox":"demo"}'),
    ]


def test_opens_ports_to_everybody_and_closes_them(service: ScriptedService, client: Driver) -> None:
    all_of_them = {"sandbox": "sb_1", "all": True, "ports": [], "allowed": True}
    some = {"sandbox": "sb_1", "all": False, "ports": [80], "allowed": True}
    service.answers(result(all_of_them), result(some))
    box = client.client.sandbox("demo")
    assert client.call(lambda _: box.set_public_ports("all")) == all_of_them
    assert client.call(lambda _: box.set_public_ports([80])) == some
    assert [(path, body) for _, path, _, body in service.asked] == [
        ("/v1/admin/SetPublicPorts", '{"sandbox":"demo","all":true}'),
        ("/v1/admin/SetPublicPorts", '{"sandbox":"demo","ports":[80]}'),
    ]


def test_takes_a_snapshot_comes_back_to_it_and_forks_into_handles(service: ScriptedService, client: Driver) -> None:
    service.answers(
        result({"id": "snap_1", "name": "point"}),
        result(
            {
                "sandboxes": [{"id": "sb_1"}, {"id": "sb_3"}],
                "failed": [{"code": "already_exists", "detail": "taken"}],
            }
        ),
        result({"ports": []}),
        problem("resource_exhausted", 429),
        result({"id": "sb_1", "state": "started"}),
    )
    box = client.client.sandbox("demo")
    assert client.call(lambda _: box.snapshot(name="point"))["name"] == "point"
    forks = client.call(lambda _: box.fork(count=3, name="way"))
    assert [one.id for one in forks.sandboxes] == ["sb_1", "sb_3"]
    assert forks.failed == [{"code": "already_exists", "detail": "taken"}]
    client.call(lambda _: forks.sandboxes[1].ports())
    assert client.failure(lambda _: box.fork(max_retries=0)).code == "resource_exhausted"
    assert client.call(lambda _: box.rollback("point"))["state"] == "started"
    assert paths(service) == [
        "/v1/tools/Sandbox.SnapshotSandbox",
        "/v1/tools/Sandbox.ForkSandbox",
        "/v1/tools/Sandbox.ListPorts",
        "/v1/tools/Sandbox.ForkSandbox",
        "/v1/tools/Sandbox.RollbackSandbox",
    ]
    assert service.bodies() == [
        {"sandbox": "demo", "name": "point"},
        {"sandbox": "demo", "count": 3, "name": "way"},
        {"sandbox": "sb_3"},
        {"sandbox": "demo"},
        {"sandbox": "demo", "snapshot": "point"},
    ]


def within(client: Driver) -> None:
    """Enters a handle's block, and leaves it."""
    if not client.is_async:
        with client.client.sandbox("demo"):
            return

    async def block(c: Any) -> None:
        async with c.sandbox("demo"):
            return

    client.call(block)


def test_deletes_its_sandbox_at_the_end_of_its_block(service: ScriptedService, client: Driver) -> None:
    service.answers(result({"deleted": True}))
    within(client)
    assert paths(service) == ["/v1/tools/Sandbox.DeleteSandbox"]


def test_takes_one_that_is_gone_for_deleted_and_no_other_failure(service: ScriptedService, client: Driver) -> None:
    service.answers(problem("not_found", 404), problem("permission_denied", 403))
    within(client)
    with pytest.raises(PermissionDeniedError):
        within(client)
