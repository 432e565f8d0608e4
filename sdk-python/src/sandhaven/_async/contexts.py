"""Contexts of a sandbox: interpreters that keep the variables of the code that they ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .._calls import OnDisplay
from .._error import SandhavenError
from .._output import OnBytes, OnOutput
from .._records import ContextInfo, ContextLanguage

if TYPE_CHECKING:
    from .._generated.async_client import AsyncSandhaven
    from .._generated.types import RunInContextResult

# Below, `list` is a method.
_list = list


class AsyncCodeContext:
    """One context. In `async with` it is deleted at the end of the block."""

    id: str

    def __init__(self, client: AsyncSandhaven, sandbox: str, context: str) -> None:
        self.id = context
        self._client = client
        self._sandbox = sandbox

    async def __aenter__(self) -> AsyncCodeContext:
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.delete()
        except SandhavenError as error:
            if error.code != "not_found":
                raise

    async def run(
        self,
        code: str,
        *,
        restart: bool | None = None,
        timeout_seconds: int | None = None,
        call_timeout_seconds: float | None = None,
        on_output: OnBytes | None = None,
        on_stdout: OnOutput | None = None,
        on_stderr: OnOutput | None = None,
        on_display: OnDisplay | None = None,
    ) -> RunInContextResult:
        """Runs code with the variables of the runs before. An error of the code is a part of the result.

        Args:
            code: Source code.
            restart: Starts the context anew first.
            timeout_seconds: After this the code is interrupted (default 60).
            call_timeout_seconds: Longest time of the call (default: the client's).
            on_output: Receives what the code prints, byte for byte.
            on_stdout: Receives it as text of standard output, and how many bytes are missing before it.
            on_stderr: Likewise, for standard error.
            on_display: Receives each result as it is shown; the returned value has all of them too.
        """
        return await self._client.run_in_context(
            code=code,
            sandbox=self._sandbox,
            context=self.id,
            restart=restart,
            timeout_seconds=timeout_seconds,
            call_timeout_seconds=call_timeout_seconds,
            on_output=on_output,
            on_stdout=on_stdout,
            on_stderr=on_stderr,
            on_display=on_display,
        )

    async def interrupt(self, *, call_timeout_seconds: float | None = None) -> bool:
        """Interrupts the code that runs, as Ctrl-C does; its variables stay. Returns false where none ran."""
        return cast(bool, (await self._act("InterruptContext", call_timeout_seconds))["interrupted"])

    async def restart(self, *, call_timeout_seconds: float | None = None) -> ContextInfo:
        """Starts it anew, without its variables."""
        return cast(ContextInfo, await self._act("RestartContext", call_timeout_seconds))

    async def delete(self, *, call_timeout_seconds: float | None = None) -> None:
        """Kills it with all that it has started."""
        await self._act("DeleteContext", call_timeout_seconds)

    async def _act(self, action: str, call_timeout_seconds: float | None) -> dict[str, Any]:
        parameters = {"sandbox": self._sandbox, "context": self.id}
        administration = self._client.administration
        return await administration.call(action, parameters, call_timeout_seconds=call_timeout_seconds)


class AsyncContexts:
    """Creates and finds the contexts of one sandbox."""

    def __init__(self, client: AsyncSandhaven, sandbox: str) -> None:
        self._client = client
        self._sandbox = sandbox

    async def create(
        self,
        *,
        language: ContextLanguage | None = None,
        id: str | None = None,
        cwd: str | None = None,
        user: str | None = None,
        memory_mb: int | None = None,
        call_timeout_seconds: float | None = None,
    ) -> AsyncCodeContext:
        """Starts one, and returns when it waits for code.

        Args:
            language: By default the sandbox's.
            id: By default a new one.
            cwd: Where it starts (default: /workspace, or the user's home).
            user: Linux user (default: the sandbox's).
            memory_mb: Most memory of each of its processes, in MiB (default: what the sandbox has).
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        place = {"cwd": cwd, "user": user, "memory_mb": memory_mb}
        parameters = {"sandbox": self._sandbox, "language": language, "context": id, **place}
        administration = self._client.administration
        made = await administration.call("CreateContext", parameters, call_timeout_seconds=call_timeout_seconds)
        return self.get(cast(ContextInfo, made)["context"])

    async def list(self, *, call_timeout_seconds: float | None = None) -> _list[ContextInfo]:
        """Oldest first, also those that have ended by themselves."""
        administration = self._client.administration
        parameters = {"sandbox": self._sandbox}
        listed = await administration.call("ListContexts", parameters, call_timeout_seconds=call_timeout_seconds)
        return cast("_list[ContextInfo]", listed["contexts"])

    def get(self, id: str) -> AsyncCodeContext:
        """One that exists, by its id; asks for nothing."""
        return AsyncCodeContext(self._client, self._sandbox, id)
