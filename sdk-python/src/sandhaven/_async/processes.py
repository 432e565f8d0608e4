"""Processes of a sandbox that go on without their client: they are started, followed, written to, and ended."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar, Union, cast

from .._bodies import parse_json
from .._calls import CallOptions, settle
from .._events import ServerEvent
from .._failures import foreign_answer
from .._output import Heard, OnBytes, OnOutput, Output, OutputPiece, piece_of
from .._paths import segment
from .._records import ProcessEnd, ProcessInfo
from .administration import AsyncAdministration
from .connection import AsyncConnection
from .reconnecting import read_reconnecting

# Below, `list` is a method.
_list = list
_Rest = ParamSpec("_Rest")
_Value = TypeVar("_Value")
_Event = Union[int, OutputPiece, ProcessEnd]
"""The position where the output begins, some output, or the end."""


class AsyncProcess:
    """One process."""

    id: str
    """Its pid; with `get`, the pid or tag that was given."""
    pid: int | None
    """None where a tag was given."""

    def __init__(self, connection: AsyncConnection, sandbox: str, process: str) -> None:
        self.id = process
        # A tag begins with a letter.
        self.pid = int(process) if process.isascii() and process.isdigit() else None
        self._connection = connection
        self._administration = AsyncAdministration(connection)
        self._sandbox = sandbox

    async def follow(
        self,
        *,
        start: int = 0,
        on_output: OnBytes | None = None,
        on_stdout: OnOutput | None = None,
        on_stderr: OnOutput | None = None,
    ) -> ProcessEnd:
        """Hands on its output until its end, which is the result; without listeners it waits for that.

        The process waits for the slowest of those who follow it. A connection that breaks is made again, and goes on
        where it was.

        Args:
            start: First byte, counted from 0 over both streams (default: the oldest that is kept).
            on_output: Receives what the program prints, byte for byte.
            on_stdout: Receives it as text of standard output, and how many bytes are missing before it.
            on_stderr: Likewise, for standard error.
        """
        output = Output(on_output, on_stdout, on_stderr)
        route = f"/v1/sandboxes/{segment(self._sandbox)}/processes/{segment(self.id)}/output"
        position, left_out = start, 0
        retries = self._connection.max_retries
        events: AsyncGenerator[_Event, None] = read_reconnecting(
            self._connection, lambda: f"{route}?from={position}", _read, retries
        )
        async with aclosing(events) as stream:
            async for event in stream:
                if isinstance(event, int):
                    left_out += max(event - position, 0)
                    position = event
                elif isinstance(event, OutputPiece):
                    for returned in output.of(event._replace(left_out_bytes=left_out)):
                        await Heard(returned)
                    position += len(event.data)
                    left_out = 0
                else:
                    for returned in output.rest():
                        await Heard(returned)
                    return event
        raise AssertionError("the events have ended")

    async def write(self, data: str | bytes, *, call_timeout_seconds: float | None = None) -> None:
        """Writes to its standard input, and waits until the program's pipe or terminal has taken all."""
        sent: dict[str, object] = {"input": data}
        if isinstance(data, bytes):
            sent = {"input": base64.b64encode(data).decode(), "encoding": "base64"}
        await self._administer("SendProcessInput", sent, call_timeout_seconds)

    async def close_input(self, *, call_timeout_seconds: float | None = None) -> None:
        """Ends its standard input."""
        await self._administer("SendProcessInput", {"input": "", "close_input": True}, call_timeout_seconds)

    async def signal(self, name: str, *, call_timeout_seconds: float | None = None) -> None:
        """Sends it a signal, such as "TERM"."""
        await self._administer("SignalProcess", {"signal": name}, call_timeout_seconds)

    async def resize(self, cols: int, rows: int, *, call_timeout_seconds: float | None = None) -> None:
        """Changes the size of its terminal."""
        await self._administer("ResizeProcess", {"cols": cols, "rows": rows}, call_timeout_seconds)

    async def end(self, *, call_timeout_seconds: float | None = None) -> None:
        """Kills it with all that it has started, and forgets it; one that has ended is only forgotten."""
        await self._administer("EndProcess", {}, call_timeout_seconds)

    async def _administer(self, action: str, more: dict[str, object], call_timeout_seconds: float | None) -> None:
        parameters = {"sandbox": self._sandbox, "process": self.id, **more}
        await self._administration.call(action, parameters, call_timeout_seconds=call_timeout_seconds)


class AsyncProcesses:
    """Processes that go on without their client."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._administration = AsyncAdministration(connection)

    async def start(
        self,
        sandbox: str,
        command: str,
        *,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        tag: str | None = None,
        timeout_seconds: int | None = None,
        cols: int | None = None,
        rows: int | None = None,
        call_timeout_seconds: float | None = None,
    ) -> AsyncProcess:
        """Starts a command of the shell, which goes on without its client.

        Args:
            sandbox: Name or ID.
            command: Command line of the shell.
            cwd: Absolute, or relative to /workspace or the user's home.
            env: Variables of its environment.
            user: Linux user (default: the sandbox's).
            tag: Finds the process beside its pid; unique among those that run.
            timeout_seconds: After this it is killed with all that it has started (default 86,400, which is the most).
            cols: Size of a terminal that it gets, with rows; all its output is then standard output.
            rows: See cols.
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        bounds = {"timeout_seconds": timeout_seconds, "cols": cols, "rows": rows}
        process = {"command": command, "cwd": cwd, "env": env, "user": user, "tag": tag}
        parameters = {"sandbox": sandbox, **process, **bounds}
        started = await self._administration.call("StartProcess", parameters, call_timeout_seconds=call_timeout_seconds)
        return self.get(sandbox, cast(ProcessInfo, started)["process"])

    async def list(self, sandbox: str, *, call_timeout_seconds: float | None = None) -> _list[ProcessInfo]:
        """Those that run, and those that ended last; oldest first. The sandbox is a name or ID."""
        parameters = {"sandbox": sandbox}
        listed = await self._administration.call("ListProcesses", parameters, call_timeout_seconds=call_timeout_seconds)
        return cast("_list[ProcessInfo]", listed["processes"])

    def get(self, sandbox: str, process: str | int) -> AsyncProcess:
        """A process that exists, by pid or tag; asks for nothing. The sandbox is a name or ID."""
        return AsyncProcess(self._connection, sandbox, str(process))


class AsyncSandboxProcesses:
    """The processes of one sandbox: the methods of AsyncProcesses, without the sandbox."""

    def __init__(self, processes: AsyncProcesses, sandbox: str) -> None:
        self.start = _of_one(processes.start, sandbox)
        self.list = _of_one(processes.list, sandbox)
        self.get = _of_one(processes.get, sandbox)


def _of_one(call: Callable[Concatenate[str, _Rest], _Value], sandbox: str) -> Callable[_Rest, _Value]:
    return partial(call, sandbox)


def _read(event: ServerEvent) -> _Event | None:
    if event.event == "output":
        return piece_of(event.data)
    if event.event != "begin":
        return cast("ProcessEnd | None", settle(event, CallOptions()))
    value = parse_json(event.data)
    if isinstance(value, dict) and isinstance(value.get("from"), int):
        return cast(int, value["from"])
    raise foreign_answer(200)
