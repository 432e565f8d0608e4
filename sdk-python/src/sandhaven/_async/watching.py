"""Changes of files of a sandbox, as they happen."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal, Union, cast

from .._bodies import parse_json
from .._calls import CallOptions, settle
from .._events import ServerEvent
from .._failures import foreign_answer
from .._paths import query_of, segment
from .._records import FileChange
from .connection import AsyncConnection
from .reconnecting import read_reconnecting

_Event = Union[list[FileChange], Literal["begin", "gone"]]


async def watch_files(
    connection: AsyncConnection, sandbox: str, path: str, recursive: bool, user: str | None
) -> AsyncGenerator[FileChange, None]:
    """Ends when the folder is gone. A connection that breaks is made again, and an overflow comes in its place."""
    query = {"path": path, "recursive": str(recursive).lower()}
    if user is not None:
        query["user"] = user
    route = f"/v1/sandboxes/{segment(sandbox)}/files/watch?{query_of(query)}"
    events: AsyncGenerator[_Event, None] = read_reconnecting(connection, lambda: route, _read, connection.max_retries)
    has_begun = False
    async with aclosing(events) as stream:
        async for event in stream:
            if event == "gone":
                return
            if event == "begin":
                yield {"type": "overflow" if has_begun else "ready"}
                has_begun = True
            else:
                for change in event:
                    yield change


def _read(event: ServerEvent) -> _Event | None:
    if event.event == "begin":
        return "begin"
    if event.event != "changes":
        return None if settle(event, CallOptions()) is None else "gone"
    value = parse_json(event.data)
    if isinstance(value, dict) and isinstance(value.get("changes"), list):
        return cast("list[FileChange]", value["changes"])
    raise foreign_answer(200)
