/** Writes the client for asyncio: one method a tool, and iterators over lists that have pages. */

import { errorsOf } from '../../docs/generate/failures.ts';
import { type Described, FLAT, type Paging } from '../../sdk/generate/described.ts';
import { inputJsonSchema, type JsonSchema } from '../../src/catalog/json-schema.ts';
import { errorName } from './errors.ts';
import { docstring, entry, pascal, snake } from './text.ts';
import type { PythonTypes } from './types.ts';

export interface Keyword {
  name: string;
  /** Type and default, as in a signature. */
  typed: string;
  about: string;
  isParameter: boolean;
}

const HEADER = `"""The client for asyncio. Generated from the service's catalogue by \`make generate\`; never edited by hand."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from types import TracebackType
from typing import Literal, cast

import httpx

from .._async.administration import AsyncAccess, AsyncAdministration, AsyncSessions, AsyncSnapshots
from .._async.builds import build
from .._async.call import call_tool
from .._async.changes import changes_of
from .._async.connection import AsyncConnection
from .._async.content import AsyncContent
from .._async.files import AsyncFiles
from .._async.pages import by_offset, by_page
from .._async.preview import AsyncPreview
from .._async.processes import AsyncProcesses
from .._calls import CallOptions, OnDisplay, OnProgress
from .._follow import SandboxChange
from .._output import OnBytes, OnOutput
from .._records import BuildEvent
from .._settings import Default, settings_of
from . import facts, types
from .async_handle import AsyncSandboxHandle
`;

/** Words that no parameter may have as its name. */
const RESERVED = new Set(['self', 'from', 'import', 'class', 'def', 'global', 'in', 'is', 'lambda', 'with']);

export function generateClient(described: Described[], names: PythonTypes): string {
  return withMethodNames(clientModule(described, names), described);
}

/** Descriptions name tools, which have other names here. */
export function withMethodNames(text: string, described: Described[]): string {
  const known = new Map(described.map(({ typeName }) => [typeName, snake(typeName)]));
  return text.replace(/\b[A-Z]\w+\b/g, (word) => known.get(word) ?? word);
}

function clientModule(described: Described[], names: PythonTypes): string {
  const toolkits = [...new Set(described.map(({ toolkit }) => toolkit))].filter((name) => name !== FLAT);
  const of = (wanted: string) => described.filter(({ toolkit }) => toolkit === wanted);
  const methods = (tools: Described[]) => tools.map((tool) => method(tool, names)).join('\n');
  return [
    HEADER,
    `${clientClass(toolkits)}\n${methods(of(FLAT))}\n${creation(described, names)}`,
    ...toolkits.map((toolkit) => `${namespace(toolkit)}\n${methods(of(toolkit))}`),
    `${ITERATE}\n${described
      .filter(({ paging }) => paging !== null)
      .map((tool) => iterator(tool, names))
      .join('\n')}`,
  ].join('\n\n');
}

function clientClass(toolkits: string[]): string {
  const fields = toolkits.map((name) => `        self.${snake(name)} = Async${name}(connection)\n`).join('');
  return `class AsyncSandhaven:
    """Calls the tools of one service.

    It keeps connections for later calls: use it in \`async with\`, or close it.

    Args:
        api_key: By default SANDBOX_API_KEY. None sends none, for a proxy that adds it.
        url: By default SANDBOX_API_URL, else http://127.0.0.1:7420.
        team: Team to act for, by name or ID: it owns what the calls work with.
        max_retries: Most retries of a transient failure, where they are safe.
        call_timeout_seconds: Longest time of a call, with all its retries (default: no limit).
        headers: Sent with every request. The client's own replace those of the same name.
        transport: Replaces that of httpx, for certificates and proxies of your own.
    """

    def __init__(
        self,
        *,
        api_key: str | Default | None = Default.ENVIRONMENT,
        url: str | None = None,
        team: str | None = None,
        max_retries: int = 2,
        call_timeout_seconds: float | None = None,
        headers: Mapping[str, str] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        connection = AsyncConnection(
            settings_of(api_key, url, headers, team),
            max_retries=max_retries,
            call_timeout_seconds=call_timeout_seconds,
            transport=transport,
        )
        self._connection = connection
        self.files = AsyncFiles(connection)
        self.administration = AsyncAdministration(connection)
        self.access = AsyncAccess(self.administration)
        self.snapshots = AsyncSnapshots(self.administration)
        self.sessions = AsyncSessions(self.administration)
        self.processes = AsyncProcesses(connection)
        self.iterate = AsyncIterate(self)
${fields}
    async def close(self) -> None:
        """Closes its connections; calls in progress end."""
        await self._connection.close()

    async def __aenter__(self) -> AsyncSandhaven:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def sandbox(self, sandbox: str) -> AsyncSandboxHandle:
        """Handle of a sandbox that exists; asks for nothing.

        Args:
            sandbox: Name or ID.
        """
        return AsyncSandboxHandle(self, sandbox)

    def changes(
        self,
        *,
        usage: bool = False,
        snapshots: bool = False,
        audit: bool = False,
        network: str | None = None,
        health: bool = False,
    ) -> AsyncGenerator[SandboxChange, None]:
        """Changes of your sandboxes as they happen, until you leave the loop; connects again by itself.

        List at each change of type "refresh", which is also the first.

        Args:
            usage: Also what started sandboxes use, each few seconds.
            snapshots: Also changes of snapshots, and how far one is that is being made.
            audit: Also new rows of the audit log: an admin's all, a member's own.
            network: Name or id of a sandbox: also new events of its network log.
            health: Also the health of the service, for admins.
        """
        choices = {"usage": usage, "snapshots": snapshots, "audit": audit, "network": network, "health": health}
        return changes_of(self._connection, choices)

    def preview(self, sandbox: str, port: int) -> AsyncPreview:
        """A port of a sandbox, to send requests to: \`await client.preview("demo", 8000).fetch("/")\`.

        Args:
            sandbox: Name or ID.
            port: Port inside the sandbox.
        """
        return AsyncPreview(self._connection, lambda: self.get_port_preview_url(sandbox=sandbox, port=port))

    async def build(
        self,
        *,
        name: str,
        context: AsyncContent,
        file: str | None = None,
        target: str | None = None,
        build_args: Mapping[str, str] = {},
        cache: bool = True,
        on_event: Callable[[BuildEvent], object] | None = None,
        call_timeout_seconds: float | None = None,
    ) -> types.GetSnapshotResult:
        """Builds a snapshot from a Dockerfile. Its end comes with the call's: a client that leaves ends the build.

        Args:
            name: Of the snapshot; one that was built before under it goes when this one is whole.
            context: The folder with the Dockerfile, as a tar that is not compressed.
            file: Path of the Dockerfile in the context (default \`Dockerfile\`).
            target: Stage, by name or number (default: the last).
            build_args: Values for ARG.
            cache: False: every step runs (default True).
            on_event: Receives steps, output and notes as they come.
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        settings = {"name": name, "file": file, "target": target, "cache": None if cache else "false"}
        return await build(self._connection, settings, build_args, context, on_event, call_timeout_seconds)
`;
}

function namespace(toolkit: string): string {
  return `class Async${toolkit}:
    """The tools of ${toolkit}."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
`;
}

const ITERATE = `class AsyncIterate:
    """Walks over lists that have pages, and fetches each when its first item is wanted."""

    def __init__(self, client: AsyncSandhaven) -> None:
        self._client = client
`;

function method(tool: Described, names: PythonTypes): string {
  const name = snake(tool.typeName);
  const result = `types.${tool.typeName}Result`;
  const keywords = keywordsOf(tool, names);
  const pairs = (isWanted: boolean, pair: (name: string) => string) =>
    keywords.filter(({ isParameter }) => isParameter === isWanted).map(({ name }) => pair(name));
  const parameters = pairs(true, (name) => `            "${name}": ${name},\n`).join('');
  return `    async def ${name}(
        self,
        *,
${keywords.map(({ name, typed }) => `        ${name}: ${typed},\n`).join('')}    ) -> ${result}:
${about(tool, keywords)}
        parameters: dict[str, object] = {${parameters === '' ? '' : `\n${parameters}        `}}
        options = CallOptions(
${pairs(false, (name) => `            ${name}=${name},\n`).join('')}        )
        return cast(${result}, await call_tool(self._connection, facts.${name}, parameters, options))
`;
}

function creation(described: Described[], names: PythonTypes): string {
  const tool = described.find(({ typeName }) => typeName === 'CreateSandbox');
  if (!tool) return '';
  const keywords = keywordsOf(tool, names);
  return `    async def create(
        self,
        *,
${keywords.map(({ name, typed }) => `        ${name}: ${typed},\n`).join('')}    ) -> AsyncSandboxHandle:
        """Creates a sandbox, as \`create_sandbox\` does, and returns its handle."""
        created = await self.create_sandbox(
${keywords.map(({ name }) => `            ${name}=${name},\n`).join('')}        )
        return self.sandbox(created["id"])
`;
}

function about({ tool }: Described, keywords: Keyword[]): string {
  const indent = '        ';
  const failures = errorsOf({ description: tool.description, input_schema: inputJsonSchema(tool) });
  const raises = failures.map(({ code, meaning }) => entry(errorName(code), meaning, indent));
  return docstring(
    tool.description,
    [
      [`${indent}Args:`, ...keywords.map(({ name, about }) => entry(name, about, indent))],
      ...(raises.length === 0 ? [] : [[`${indent}Raises:`, ...raises]]),
    ],
    indent,
  );
}

/** Made once each: a record in a parameter is declared then. */
const made = new WeakMap<Described, Keyword[]>();

export function keywordsOf(described: Described, names: PythonTypes): Keyword[] {
  const keywords = made.get(described) ?? makeKeywords(described, names);
  made.set(described, keywords);
  return keywords;
}

function makeKeywords(described: Described, names: PythonTypes): Keyword[] {
  const { typeName, input } = described;
  const required = new Set(input.required ?? []);
  const parameters = Object.entries(input.properties ?? {}).map(([name, schema]) => {
    if (RESERVED.has(name) || !/^[a-z_][a-z0-9_]*$/.test(name)) {
      throw new Error(`${typeName}.${name} cannot be a parameter in Python`);
    }
    return parameter(
      name,
      schema,
      required.has(name),
      typeNameOf(names, schema, `${typeName}${pascal(name)}`),
    );
  });
  const options = optionsOf(described);
  const taken = options.find((option) => parameters.some(({ name }) => name === option.name));
  if (taken) throw new Error(`${typeName}.${taken.name} is an option of every call`);
  // Those that a call needs come first.
  return [...parameters.filter(isNeeded), ...parameters.filter((one) => !isNeeded(one)), ...options];
}

function isNeeded({ typed }: Keyword): boolean {
  return !typed.endsWith('= None');
}

function parameter(name: string, schema: JsonSchema, isRequired: boolean, type: string): Keyword {
  const about = schema.description ?? type;
  return { name, typed: isRequired ? type : `${type} | None = None`, about, isParameter: true };
}

/** Records in parameters are declared with the results, and stand there. */
function typeNameOf(names: PythonTypes, schema: JsonSchema, name: string): string {
  if (schema.anyOf) return schema.anyOf.map((one) => typeNameOf(names, one, name)).join(' | ');
  const isRecord = schema.type === 'object' && schema.properties !== undefined;
  // A result may have a field of the same name.
  const declared = names.typeOf(schema, isRecord && names.names.includes(name) ? `${name}Parameter` : name);
  return isRecord ? `types.${declared}` : declared;
}

function optionsOf({ tool }: Described): Keyword[] {
  const option = (name: string, type: string, about: string): Keyword => ({
    name,
    typed: `${type} | None = None`,
    about,
    isParameter: false,
  });
  return [
    option(
      'call_timeout_seconds',
      'float',
      "Longest time of the call, with its retries (default: the client's).",
    ),
    option('max_retries', 'int', "Most retries of this call, where they are safe (default: the client's)."),
    ...(tool.long ? [option('on_progress', 'OnProgress', 'Receives the steps of the call.')] : []),
    ...(tool.live
      ? [
          option('on_output', 'OnBytes', 'Receives what the program prints, byte for byte.'),
          option(
            'on_stdout',
            'OnOutput',
            'Receives it as text of standard output, and how many bytes are missing before it.',
          ),
          option('on_stderr', 'OnOutput', 'Likewise, for standard error.'),
        ]
      : []),
    ...(tool.displays
      ? [
          option(
            'on_display',
            'OnDisplay',
            'Receives each result as it is shown; the last answer has all too.',
          ),
        ]
      : []),
    ...(tool.idempotencyKey
      ? [
          option(
            'idempotency_key',
            'str',
            'Makes a call of yours that you repeat safe (default: a random one).',
          ),
        ]
      : []),
  ];
}

function iterator(described: Described, names: PythonTypes): string {
  const { toolkit, typeName, output } = described;
  const { walk, parameter, items } = described.paging as Paging;
  const name = snake(typeName);
  const keywords = keywordsOf(described, names).filter(
    ({ isParameter, name }) => isParameter || name === 'call_timeout_seconds' || name === 'max_retries',
  );
  const owner = toolkit === FLAT ? '' : `.${snake(toolkit)}`;
  const item = names.typeOf(output.properties?.[items]?.items ?? {}, '');
  const given = keywords.map(({ name }) =>
    name === parameter ? `                ${name}=first,\n` : `                ${name}=${name},\n`,
  );
  const more = walk === 'byPage' ? 'total_pages' : 'has_more';
  return `    def ${name}(
        self,
        *,
${keywords.map(({ name, typed }) => `        ${name}: ${typed},\n`).join('')}    ) -> AsyncIterator[${/^[A-Z]/.test(item) ? `types.${item}` : item}]:
        """Each of the ${items} of \`${name}\`, from ${parameter} on where it is given."""

        def fetch(first: int) -> Awaitable[types.${typeName}Result]:
            return self._client${owner}.${name}(
${given.join('')}            )

        return ${walk === 'byPage' ? 'by_page' : 'by_offset'}(${parameter}, fetch, lambda page: page["${items}"], lambda page: page["${more}"])
`;
}
