"""The client against a real service, with a sandbox."""

from __future__ import annotations

import io
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from driver import Driver

CREDENTIALS = {name: os.environ[name] for name in ("SANDBOX_API_URL", "SANDBOX_API_KEY") if name in os.environ}

pytestmark = pytest.mark.skipif(len(CREDENTIALS) < 2, reason="there is no service: SANDBOX_API_URL and SANDBOX_API_KEY")


@pytest.fixture
def real(kind: str) -> Iterator[Driver]:
    driver = Driver(kind, url=CREDENTIALS["SANDBOX_API_URL"], api_key=CREDENTIALS["SANDBOX_API_KEY"])
    yield driver
    driver.close()


@pytest.fixture
def sandbox(real: Driver) -> Iterator[str]:
    sizes = {"cpu": 1, "memory_gb": 1, "disk_gb": 1}
    created = real.call(lambda c: c.create_sandbox(name=f"py {uuid.uuid4().hex[:8]}", **sizes))
    yield created["id"]
    real.call(lambda c: c.delete_sandbox(sandbox=created["id"]))


def test_output_comes_while_a_command_runs(real: Driver, sandbox: str) -> None:
    seen: list[tuple[str, str]] = []

    def on_stdout(text: str, left_out_bytes: int) -> None:
        seen.append(("stdout", text))

    def on_stderr(text: str, left_out_bytes: int) -> None:
        seen.append(("stderr", text))

    command = "echo one; sleep 0.3; echo two >&2; exit 3"
    ran = real.call(lambda c: c.run_command(sandbox=sandbox, command=command, on_stdout=on_stdout, on_stderr=on_stderr))
    assert (ran["exit_code"], ran["stdout"], ran["stderr"]) == (3, "one\n", "two\n")
    assert seen == [("stdout", "one\n"), ("stderr", "two\n")]


def test_bytes_go_up_and_come_down(real: Driver, sandbox: str) -> None:
    content = bytes(range(256)) * 8192
    up = real.call(lambda c: c.files.upload(sandbox, "a b/ü.bin", io.BytesIO(content), mode="755"))
    assert (up["bytes_written"], up["created"]) == (2_097_152, True)
    down = real.call(lambda c: c.files.download(sandbox, "a b/ü.bin"))
    assert down.size == 2_097_152
    assert b"".join(real.all(lambda _: down)) == content
    part = real.call(lambda c: c.files.download(sandbox, "a b/ü.bin", start=254, end=257))
    assert real.call(lambda _: part.read()) == b"\xfe\xff\x00\x01"
    missing = real.failure(lambda c: c.files.download(sandbox, "none"))
    assert (missing.code, missing.status) == ("not_found", 404)
    assert real.failure(lambda c: c.files.upload("nobody", "a", iter([b"x"] * 1000))).code == "not_found"


def test_lists_are_walked_page_by_page(real: Driver, sandbox: str) -> None:
    command = "mkdir many; cd many; touch $(seq -w 1 7)"
    real.call(lambda c: c.run_command(sandbox=sandbox, command=command))
    found = real.all(lambda c: c.iterate.list_files(sandbox=sandbox, path="many", max_items=3))
    assert [file["name"] for file in found] == ["1", "2", "3", "4", "5", "6", "7"]
    named = real.all(lambda c: c.iterate.list_sandboxes(page_size=1))
    assert [one["id"] for one in named] == [sandbox]


def end(real: Driver, box: Any) -> Any:
    """Deletes it, and gives what it held."""
    held = real.call(lambda _: box.files.read("state"))["content"]
    real.call(lambda _: box.delete())
    return held


def test_a_sandbox_forks_and_is_kept_as_a_snapshot(real: Driver, sandbox: str) -> None:
    box = real.client.sandbox(sandbox)
    real.call(lambda _: box.files.write("state", "one moment"))
    kept = real.call(lambda _: box.snapshot())
    assert (kept["state"], kept["source"]["id"]) == ("active", sandbox)
    forks = real.call(lambda _: box.fork(count=2))
    assert (len(forks.sandboxes), forks.failed) == (2, [])
    made = real.call(lambda c: c.create(snapshot=kept["id"]))
    assert [end(real, one) for one in [*forks.sandboxes, made]] == ["one moment"] * 3
    real.call(lambda c: c.snapshots.delete(kept["id"]))


def test_changes_come(real: Driver) -> None:
    def both(c: Any) -> Any:
        return c.changes(usage=True)

    assert real.first(1, both) == [{"type": "refresh"}]


def test_errors_are_those_of_the_service(real: Driver) -> None:
    missing = real.failure(lambda c: c.get_sandbox(sandbox="nobody"))
    assert (missing.code, missing.status, missing.resource) == ("not_found", 404, "sandbox")
    assert missing.request_id
    without = real.failure(lambda c: c.document_db.discover_databases(max_retries=0))
    assert (without.code, without.status) == ("unavailable", 503)
    stranger = Driver("sync", url=CREDENTIALS["SANDBOX_API_URL"], api_key="shv_wrong")
    assert stranger.failure(lambda c: c.who_am_i()).code == "unauthenticated"
    stranger.close()


def test_administration_is_called_by_name(real: Driver) -> None:
    users = real.call(lambda c: c.administration.call("ListUsers"))["users"]
    assert [user["name"] for user in users] == ["admin"]


def test_the_programs_of_the_readme_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    first, second, *_ = re.findall("```python\n(.*?)```", readme, re.DOTALL)
    exec(compile(first, "README.md", "exec"), {})
    exec(compile(second, "README.md", "exec"), {})
    said = capsys.readouterr().out
    assert "1 passed" in said
    assert re.search("^0 ", said, re.MULTILINE)
    assert "\n1267650600228229401496703205376\n" in said
