"""Transfers the bytes of files as streams, unchanged and of any size; shows and changes details of files."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from types import TracebackType
from typing import cast

import httpx

from .._bodies import MAX_PROBLEM_BYTES
from .._failures import invalid_argument
from .._paths import query_of, segment
from .._records import ChangedFile, FileChange, FileDetails, Upload
from .administration import AsyncAdministration
from .clock import AsyncClock
from .connection import AsyncConnection
from .content import AsyncContent, sendable
from .watching import watch_files


class AsyncDownload:
    """Bytes on their way, to be read once: by iteration, read or text. Each of them closes it at its end."""

    size: int | None
    """None where the sandbox does not report it, as for files of /proc."""

    def __init__(self, connection: AsyncConnection, response: httpx.Response, clock: AsyncClock) -> None:
        self._connection = connection
        self._response = response
        self._clock = clock
        length = response.headers.get("content-length", "")
        self.size = int(length) if length.isascii() and length.isdigit() else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            with self._connection.explaining(self._clock):
                async for chunk in self._response.aiter_raw():
                    yield chunk
        finally:
            await self.close()

    async def read(self) -> bytes:
        """Reads all of it into memory."""
        return b"".join([chunk async for chunk in self])

    async def text(self) -> str:
        """Reads all of it as UTF-8; other bytes become U+FFFD."""
        return (await self.read()).decode("utf-8", "replace")

    async def close(self) -> None:
        """Ends the transfer; does nothing the second time."""
        await self._response.aclose()

    async def __aenter__(self) -> AsyncDownload:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncFiles:
    """The bytes of files, streamed, and their details."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._administration = AsyncAdministration(connection)

    async def upload(
        self,
        sandbox: str,
        path: str,
        content: AsyncContent,
        *,
        user: str | None = None,
        mode: str | None = None,
        create_parents: bool | None = None,
        durable: bool | None = None,
        call_timeout_seconds: float | None = None,
    ) -> Upload:
        """Creates or replaces a file, once all bytes have arrived.

        Args:
            sandbox: Name or ID.
            path: File in the sandbox.
            content: Text, bytes, a file opened with mode "rb", or an iterable of bytes.
            user: Linux user, from its home (default: the sandbox's).
            mode: Unix permissions, such as "755" (default: those of the replaced file).
            create_parents: Make missing parent folders (default True).
            durable: Survives a power cut once the call returns; otherwise within two seconds (default False).
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        query = _file_query(path, user)
        if mode is not None:
            query["mode"] = mode
        if create_parents is not None:
            query["create_parents"] = str(create_parents).lower()
        if durable is not None:
            query["durable"] = str(durable).lower()
        clock = self._connection.begin(call_timeout_seconds)
        return await clock.run(lambda: self._put(_route_of(sandbox, query), content, clock))

    async def _put(self, route: str, content: AsyncContent, clock: AsyncClock) -> Upload:
        headers = {"Content-Type": "application/octet-stream"}
        connection = self._connection
        response = await connection.send("PUT", route, clock, headers=headers, content=sendable(content))
        try:
            with connection.explaining(clock):
                return cast(Upload, await connection.object_of(response, clock, MAX_PROBLEM_BYTES))
        finally:
            await response.aclose()

    async def download(
        self,
        sandbox: str,
        path: str,
        *,
        user: str | None = None,
        start: int | None = None,
        end: int | None = None,
        call_timeout_seconds: float | None = None,
    ) -> AsyncDownload:
        """Gives the download once it begins; iterate over it, or read it.

        Args:
            sandbox: Name or ID.
            path: File in the sandbox.
            user: Linux user, from its home (default: the sandbox's).
            start: First byte, from 0 (default 0).
            end: Last byte, inclusive (default: the last of the file).
            call_timeout_seconds: Longest time until it begins, and longest silence after that (default: the client's).
        """
        headers = {}
        if start is not None or end is not None:
            first = 0 if start is None else start
            if first < 0 or (end is not None and end < first):
                raise invalid_argument("start", "The range is empty or negative.", "Give 0 <= start <= end.")
            headers["Range"] = f"bytes={first}-{'' if end is None else end}"
        clock = self._connection.begin(call_timeout_seconds)
        route = _route_of(sandbox, _file_query(path, user))
        return await clock.run(lambda: self._get(route, headers, clock))

    async def _get(self, route: str, headers: dict[str, str], clock: AsyncClock) -> AsyncDownload:
        response = await self._connection.send("GET", route, clock, headers=headers)
        if response.is_success:
            clock.stop()
            return AsyncDownload(self._connection, response, clock)
        try:
            with self._connection.explaining(clock):
                raise await self._connection.failure_of(response, clock)
        finally:
            await response.aclose()

    def watch(
        self, sandbox: str, path: str = ".", *, recursive: bool = False, user: str | None = None
    ) -> AsyncGenerator[FileChange, None]:
        """Gives changes below a folder as they happen, until it is gone.

        Args:
            sandbox: Name or ID.
            path: Folder in the sandbox (default: /workspace).
            recursive: Also folders below it, and those that come later.
            user: Linux user, from its home (default: the sandbox's).
        """
        return watch_files(self._connection, sandbox, path, recursive, user)

    async def details(
        self,
        sandbox: str,
        path: str,
        *,
        user: str | None = None,
        depth: int | None = None,
        max_items: int | None = None,
        offset: int | None = None,
        call_timeout_seconds: float | None = None,
    ) -> FileDetails:
        """Describes what is below a folder, without following links.

        Args:
            sandbox: Name or ID.
            path: Folder or file in the sandbox.
            user: Linux user, from its home (default: the sandbox's).
            depth: Levels of folders below the path; 0 for the path itself (default 1).
            max_items: Most to return (default 1,000).
            offset: How many to skip (default 0).
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        parameters = {
            "sandbox": sandbox,
            "path": path,
            "user": user,
            "depth": depth,
            "max_items": max_items,
            "offset": offset,
        }
        details = await self._administration.call(
            "GetFileDetails", parameters, call_timeout_seconds=call_timeout_seconds
        )
        return cast(FileDetails, details)

    async def set_attributes(
        self,
        sandbox: str,
        path: str,
        *,
        user: str | None = None,
        mode: str | None = None,
        owner: str | None = None,
        group: str | None = None,
        metadata: dict[str, str] | None = None,
        call_timeout_seconds: float | None = None,
    ) -> ChangedFile:
        """Changes what is given of a file or folder, and follows a final link.

        Args:
            sandbox: Name or ID.
            path: File or folder in the sandbox.
            user: Linux user, from its home (default: the sandbox's).
            mode: Unix permissions, such as "640".
            owner: Name or number of a user of the sandbox.
            group: Name or number of a group of the sandbox.
            metadata: Takes the place of all that the file has.
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        parameters = {
            "sandbox": sandbox,
            "path": path,
            "user": user,
            "mode": mode,
            "owner": owner,
            "group": group,
            "metadata": metadata,
        }
        changed = await self._administration.call(
            "SetFileAttributes", parameters, call_timeout_seconds=call_timeout_seconds
        )
        return cast(ChangedFile, changed)


def _file_query(path: str, user: str | None) -> dict[str, str]:
    return {"path": path} if user is None else {"path": path, "user": user}


def _route_of(sandbox: str, query: dict[str, str]) -> str:
    return f"/v1/sandboxes/{segment(sandbox)}/files?{query_of(query)}"
