"""A program as a user would write it, with the types it relies on spelled out, and mistakes that a checker finds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal

from sandhaven import (
    AsyncSandhaven,
    ListSandboxesResult,
    NotFoundError,
    Sandbox,
    SandboxChange,
    SandboxHandle,
    Sandhaven,
)

client = Sandhaven(api_key="k")
created: Sandbox = client.create_sandbox(name="consumer", cpu=1, labels={"a": "b"})
state: Literal["started", "stopped", "archived", "error"] = created["state"]
ran_code: int = client.run_command(sandbox=created["id"], command="echo $0", on_stdout=print)["exit_code"]
listed: ListSandboxesResult = client.list_sandboxes()
counted: int = client.document_db.count_documents(database_name="a", collection_name="b")["result"]
client.create_snapshot(name="a", image="debian:13", resources={"cpu": 2})
names: list[str] = [sandbox["name"] for sandbox in client.iterate.list_sandboxes(page_size=1)]
ended: int = client.processes.start("demo", "make", tag="web").follow(on_stdout=print)["exit_code"]
forks: list[SandboxHandle] = client.sandbox("demo").fork(count=2, name="way").sandboxes
with client.files.download("demo", "a") as download:
    pieces: list[bytes] = list(download)
try:
    client.get_sandbox(sandbox="nobody")
except NotFoundError as error:
    hint: str | None = error.hint


async def follow() -> AsyncIterator[str]:
    async with AsyncSandhaven(api_key="k") as other:
        identity: str = (await other.who_am_i())["user_id"]
        yield identity
        change: SandboxChange
        async for change in other.changes(usage=True):
            if change["type"] == "deleted":
                yield change["id"]
            if change["type"] == "usage":
                yield change["sandboxes"][0]["id"]


# Each of these is a mistake, and a comment without one is a mistake too.
client.create_sandbox(nmae="x")  # type: ignore[call-arg]
client.get_sandbox()  # type: ignore[call-arg]
client.create_sandbox(language="perl")  # type: ignore[arg-type]
client.run_command(command="ls", timeout_seconds="5")  # type: ignore[arg-type]
client.who_am_i(on_stdout=print)  # type: ignore[call-arg]
client.get_sandbox("positional")  # type: ignore[call-arg]
client.who_am_i()["password"]  # type: ignore[typeddict-item]
client.create_snapshot(name="a", image="b", resources={"cpus": 2})  # type: ignore[arg-type]
