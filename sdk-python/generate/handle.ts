/** Writes the handle of one sandbox for asyncio: what a tool requires is given by position, the rest by keyword. */
import type { Described } from '../../sdk/generate/described.ts';
import { type HandleMethod, handleMethods } from '../../sdk/generate/handles.ts';
import { type Keyword, keywordsOf } from './client.ts';
import { docstring, snake } from './text.ts';
import type { PythonTypes } from './types.ts';

const HEADER = `"""The handle of one sandbox, for asyncio. Generated from the service's catalogue."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from types import TracebackType
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from .._async.content import AsyncContent
from .._async.contexts import AsyncCodeContext, AsyncContexts
from .._async.files import AsyncDownload
from .._async.preview import AsyncPreview
from .._async.processes import AsyncSandboxProcesses
from .._calls import OnDisplay, OnProgress
from .._output import OnBytes, OnOutput
from .._records import (
    ChangedFile,
    ContextLanguage,
    DeletedSession,
    FileChange,
    FileDetails,
    PublicPorts,
    SandboxDeadline,
    SandboxSleep,
    SandboxToken,
    Upload,
    UsageHistory,
)
from . import types
from .errors import NotFoundError

if TYPE_CHECKING:
    from .async_client import AsyncSandhaven

# Below, \`list\` is a method.
_list = list
`;

const FILES = `
    async def upload(
        self,
        path: str,
        content: AsyncContent,
        *,
        user: str | None = None,
        mode: str | None = None,
        create_parents: bool | None = None,
        durable: bool | None = None,
        call_timeout_seconds: float | None = None,
    ) -> Upload:
        """Creates or replaces a file, once all bytes have arrived."""
        return await self._client.files.upload(
            self._sandbox,
            path,
            content,
            user=user,
            mode=mode,
            create_parents=create_parents,
            durable=durable,
            call_timeout_seconds=call_timeout_seconds,
        )

    async def download(
        self,
        path: str,
        *,
        user: str | None = None,
        start: int | None = None,
        end: int | None = None,
        call_timeout_seconds: float | None = None,
    ) -> AsyncDownload:
        """Opens a file for reading; close it, or use it in \`async with\`."""
        return await self._client.files.download(
            self._sandbox,
            path,
            user=user,
            start=start,
            end=end,
            call_timeout_seconds=call_timeout_seconds,
        )

    def watch(
        self, path: str = ".", *, recursive: bool = False, user: str | None = None
    ) -> AsyncGenerator[FileChange, None]:
        """Gives changes below a folder as they happen, until it is gone."""
        return self._client.files.watch(self._sandbox, path, recursive=recursive, user=user)

    async def details(
        self,
        path: str,
        *,
        user: str | None = None,
        depth: int | None = None,
        max_items: int | None = None,
        offset: int | None = None,
        call_timeout_seconds: float | None = None,
    ) -> FileDetails:
        """Describes what is below a folder, without following links."""
        return await self._client.files.details(
            self._sandbox,
            path,
            user=user,
            depth=depth,
            max_items=max_items,
            offset=offset,
            call_timeout_seconds=call_timeout_seconds,
        )

    async def set_attributes(
        self,
        path: str,
        *,
        user: str | None = None,
        mode: str | None = None,
        owner: str | None = None,
        group: str | None = None,
        metadata: dict[str, str] | None = None,
        call_timeout_seconds: float | None = None,
    ) -> ChangedFile:
        """Changes what is given of a file or folder, and follows a final link."""
        return await self._client.files.set_attributes(
            self._sandbox,
            path,
            user=user,
            mode=mode,
            owner=owner,
            group=group,
            metadata=metadata,
            call_timeout_seconds=call_timeout_seconds,
        )
`;

const CODE = `
    @property
    def contexts(self) -> AsyncContexts:
        """Interpreters that keep variables."""
        return AsyncContexts(self._client, self._sandbox)

    async def context(
        self,
        language: ContextLanguage | None = None,
        *,
        id: str | None = None,
        cwd: str | None = None,
        user: str | None = None,
        memory_mb: int | None = None,
        call_timeout_seconds: float | None = None,
    ) -> AsyncCodeContext:
        """Starts an interpreter that keeps variables, as \`contexts.create\` does."""
        return await self.contexts.create(
            language=language,
            id=id,
            cwd=cwd,
            user=user,
            memory_mb=memory_mb,
            call_timeout_seconds=call_timeout_seconds,
        )
`;

const SESSIONS = `
    async def delete(self, session_id: str, *, call_timeout_seconds: float | None = None) -> DeletedSession:
        """Kills the shell with all that it has started, and forgets the logs of its commands."""
        return await self._client.sessions.delete(
            self._sandbox, session_id, call_timeout_seconds=call_timeout_seconds
        )
`;

/** Results of sandboxes become handles, as that of `create` does. */
const HANDLES = `        handles = [self._client.sandbox(one["id"]) for one in made["sandboxes"]]
        return AsyncForks(handles, made["failed"])
`;

/** By group; what the generated methods do not have is written here. */
const classes: Record<string, { name: string; about: string; besides: string }> = {
  files: { name: 'AsyncSandboxFiles', about: 'The files of one sandbox.', besides: FILES },
  code: { name: 'AsyncSandboxCode', about: 'Code that runs in one sandbox.', besides: CODE },
  sessions: { name: 'AsyncSandboxSessions', about: 'The sessions of one sandbox.', besides: SESSIONS },
  git: { name: 'AsyncSandboxGit', about: 'Git in one sandbox.', besides: '' },
};

export function generateHandle(described: Described[], names: PythonTypes): string {
  const methods = handleMethods(described);
  const of = (wanted: string) =>
    methods
      .filter(({ group }) => group === wanted)
      .map((one) => method(one, names))
      .join('\n');
  const groups = Object.entries(classes).filter(([group]) => methods.some((one) => one.group === group));
  const fields = groups.map(([group, { name }]) => `        self.${group} = ${name}(client, sandbox)\n`);
  return [
    HEADER,
    ...groups.map(
      ([group, { name, about, besides }]) => `class ${name}:
    """${about}"""

    def __init__(self, client: AsyncSandhaven, sandbox: str) -> None:
        self._client = client
        self._sandbox = sandbox
${besides}
${of(group)}`,
    ),
    `class AsyncForks(NamedTuple):
    """What a fork has made."""

    sandboxes: list[AsyncSandboxHandle]
    """Handles of the sandboxes that started."""
    failed: list[types.ForkSandboxFailedItem]
    """Why each of the others did not start. Where none starts, the call itself fails."""`,
    `class AsyncSandboxHandle:
    """One sandbox, whose calls need no name of it. In \`async with\` it is deleted at the end of the block."""

    def __init__(self, client: AsyncSandhaven, sandbox: str) -> None:
        self.id = sandbox
        self._client = client
${fields.join('')}        self.processes = AsyncSandboxProcesses(client.processes, sandbox)

    async def __aenter__(self) -> AsyncSandboxHandle:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.delete()
        except NotFoundError:
            return

    def preview(self, port: int) -> AsyncPreview:
        """A port of it, to send requests to: \`await box.preview(8000).fetch("/")\`."""
        return self._client.preview(self.id, port)

    async def set_deadline(
        self,
        seconds: int,
        *,
        action: Literal["stop", "delete", "sleep"] | None = None,
        call_timeout_seconds: float | None = None,
    ) -> SandboxDeadline:
        """Sets or moves the moment at which the service stops, deletes or freezes it, whatever runs in it.

        Args:
            seconds: From now, at most 30 days; 0 removes the deadline.
            action: What happens then (default: what it was, else a stop).
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        parameters = {"sandbox": self.id, "seconds": seconds, "action": action}
        deadline = await self._client.administration.call(
            "SetSandboxDeadline", parameters, call_timeout_seconds=call_timeout_seconds
        )
        return cast(SandboxDeadline, deadline)

    async def pause(self, *, call_timeout_seconds: float | None = None) -> SandboxSleep:
        """Puts it to sleep, whatever runs in it: it keeps its memory and uses no processor until any call wakes it."""
        return await self._sleep("PauseSandbox", {}, call_timeout_seconds)

    async def resume(self, *, call_timeout_seconds: float | None = None) -> SandboxSleep:
        """Wakes it."""
        return await self._sleep("ResumeSandbox", {}, call_timeout_seconds)

    async def set_sleep(
        self,
        *,
        after_seconds: int | None = None,
        wake: bool | None = None,
        call_timeout_seconds: float | None = None,
    ) -> SandboxSleep:
        """Sets when it falls asleep without activity, and whether a use starts it when it is stopped.

        Args:
            after_seconds: Seconds without activity, at most 30 days; 0: never.
            wake: True: a use starts it when it is stopped or archived.
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        given: dict[str, object] = {"after_seconds": after_seconds, "wake": wake}
        return await self._sleep("SetSandboxSleep", given, call_timeout_seconds)

    async def usage_history(self, *, call_timeout_seconds: float | None = None) -> UsageHistory:
        """What it has used in its last hour, a sample each ten seconds."""
        history = await self._client.administration.call(
            "GetUsageHistory", {"sandbox": self.id}, call_timeout_seconds=call_timeout_seconds
        )
        return cast(UsageHistory, history)

    async def _sleep(
        self, action: str, given: dict[str, object], call_timeout_seconds: float | None
    ) -> SandboxSleep:
        parameters = {"sandbox": self.id, **given}
        sleep = await self._client.administration.call(
            action, parameters, call_timeout_seconds=call_timeout_seconds
        )
        return cast(SandboxSleep, sleep)

    async def set_public_ports(
        self, ports: Literal["all"] | _list[int], *, call_timeout_seconds: float | None = None
    ) -> PublicPorts:
        """Opens exactly these ports to everybody, where the operator allows it.

        Args:
            ports: An empty list closes all.
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        return await self._client.access.set_public_ports(self.id, ports, call_timeout_seconds=call_timeout_seconds)

    async def create_token(
        self, *, expires_in_minutes: int | None = None, call_timeout_seconds: float | None = None
    ) -> SandboxToken:
        """Makes a token that opens the files, programs and previews of this sandbox, and nothing else.

        Args:
            expires_in_minutes: At most 30 days (default: 60).
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        return await self._client.access.create_token(
            self.id, expires_in_minutes=expires_in_minutes, call_timeout_seconds=call_timeout_seconds
        )

${of('')}`,
  ].join('\n\n');
}

function method({ described, group, name, positional }: HandleMethod, names: PythonTypes): string {
  const { tool, typeName } = described;
  const keywords = keywordsOf(described, names).filter((one) => one.name !== 'sandbox');
  const isFirst = ({ name }: Keyword) => positional.includes(name);
  const [first, rest] = [keywords.filter(isFirst), keywords.filter((one) => !isFirst(one))];
  const signature = (all: Keyword[]) =>
    all.map(({ name, typed }) => `        ${name}: ${typed.replace(/\blist\[/g, '_list[')},\n`).join('');
  const [about = ''] = tool.description.split(/(?<=\.) /);
  const isFork = typeName === 'ForkSandbox';
  return `    async def ${snake(name.charAt(0).toUpperCase() + name.slice(1))}(
        self,
${signature(first)}        *,
${signature(rest)}    ) -> ${isFork ? 'AsyncForks' : `types.${typeName}Result`}:
${docstring(about, [], '        ')}
        ${isFork ? 'made =' : 'return'} await self._client.${snake(typeName)}(
            sandbox=${group === '' ? 'self.id' : 'self._sandbox'},
${keywords.map(({ name }) => `            ${name}=${name},\n`).join('')}        )
${isFork ? HANDLES : ''}`;
}
