/** Writes the SDK's client from the catalogue: types, one method a tool, and iterators over paged lists. */

import type { Tool } from '../../src/catalog/base/tool.ts';
import { allTools } from '../../src/catalog/index.ts';
import { errorTable } from '../../src/model/errors.ts';
import { type Described, describe, FLAT, lowerFirst, type Paging } from './described.ts';
import { comment, TypeNames } from './types.ts';

const HEADER = `/** The client. Generated from the service's catalogue by each set-up. */
import { Access } from './access.ts';
import { Administration } from './administration.ts';
import { type BuildEvent, type BuildOptions, build } from './builds.ts';
import { type Call, type CallOptions, createCall, type ToolFacts } from './call.ts';
import { changesOf, type FollowOptions, type SandboxChange } from './changes.ts';
import { Connection, type SandhavenOptions } from './connection.ts';
import { Files } from './files.ts';
import { byOffset, byPage } from './pages.ts';
import { Preview } from './preview.ts';
import { Processes } from './processes.ts';
import { SandboxHandle } from './sandbox-handle.ts';
import { Sessions } from './sessions.ts';
import { Snapshots } from './snapshots.ts';
`;

/** @param catalogue All tools; a test may pass others. */
export function generateSdk(catalogue: readonly Tool[] = allTools): string {
  const described = catalogue.map(describe);
  const toolkits = [...new Set(described.map(({ toolkit }) => toolkit))].filter((name) => name !== FLAT);
  const names = new TypeNames();
  const parts = [
    HEADER,
    errorCodes(),
    ...described.map((tool) => declarations(tool, names)),
    facts(described),
    client(
      described.filter(({ toolkit }) => toolkit === FLAT),
      toolkits,
    ),
    ...toolkits.map((toolkit) =>
      namespace(
        toolkit,
        described.filter((tool) => tool.toolkit === toolkit),
      ),
    ),
    pages(described.filter(({ paging }) => paging !== null)),
  ];
  return `${parts.join('\n')}`;
}

function errorCodes(): string {
  const codes = Object.keys(errorTable).map((code) => `  | '${code}'`);
  return `/** How a call can fail. */\nexport type ErrorCode =\n${codes.join('\n')};\n`;
}

function declarations({ typeName, input, output }: Described, names: TypeNames): string {
  return `${names.declare(`${typeName}Parameters`, input)}\n\n${names.declare(`${typeName}Result`, output)}\n`;
}

function facts(described: Described[]): string {
  const rows = described.map(({ tool, method }) => {
    const { readOnlyHint, idempotentHint } = tool.annotations;
    const fields = [
      `name: '${tool.name}'`,
      `repeatable: ${readOnlyHint || idempotentHint}`,
      `long: ${tool.long ?? false}`,
      `idempotencyKey: ${tool.idempotencyKey ?? false}`,
    ];
    return `  ${method}: { ${fields.join(', ')} },`;
  });
  return `const facts = {\n${rows.join('\n')}\n} satisfies Record<string, ToolFacts>;\n`;
}

function client(described: Described[], toolkits: string[]): string {
  const fields = toolkits.map((name) => `  readonly ${lowerFirst(name)}: ${name};\n`);
  const set = toolkits.map((name) => `    this.${lowerFirst(name)} = new ${name}(this.#call);\n`);
  return `/** Calls the tools of one service. It holds no connection open, so nothing has to be closed. */
export class Sandhaven {
  /** The bytes of files, streamed, and their details. */
  readonly files: Files;
  /** SSH and preview access can be revoked. */
  readonly access: Access;
  /** Snapshots can be deleted. */
  readonly snapshots: Snapshots;
  /** Sessions can be deleted. */
  readonly sessions: Sessions;
  /** Processes that go on without their client. */
  readonly processes: Processes;
  /** Actions of the administration, by name. */
  readonly administration: Administration;
  /** Each item of lists that have pages: \`for await (const … of client.iterate.listFiles())\`. */
  readonly iterate: Iterate;
${fields.join('')}  readonly #call: Call;
  readonly #connection: Connection;

  constructor(options: SandhavenOptions = {}) {
    const connection = new Connection(options);
    this.#connection = connection;
    this.#call = createCall(connection);
    this.files = new Files(connection);
    this.access = new Access(connection);
    this.snapshots = new Snapshots(connection);
    this.sessions = new Sessions(connection);
    this.processes = new Processes(connection);
    this.administration = new Administration(connection);
    this.iterate = new Iterate(this);
${set.join('')}  }

  /** Builds a snapshot from a Dockerfile and the folder around it; resolves once it is active. */
  build(options: BuildOptions, onEvent?: (event: BuildEvent) => void): Promise<GetSnapshotResult> {
    return build(this.#connection, options, onEvent);
  }

  /** Creates a sandbox, as \`createSandbox\` does. Returns its handle: \`await using box = await client.create()\`. */
  async create(parameters: CreateSandboxParameters = {}, options?: CallOptions): Promise<SandboxHandle> {
    return this.sandbox((await this.createSandbox(parameters, options)).id);
  }

  /**
   * Handle of a sandbox that exists; asks for nothing.
   *
   * @param sandbox Name or ID.
   */
  sandbox(sandbox: string): SandboxHandle {
    return new SandboxHandle(this, sandbox);
  }

  /**
   * Changes of your sandboxes as they happen, until the signal ends them; connects again by itself. List at each 'refresh',
   * which is also the first.
   */
  changes(options: FollowOptions = {}): AsyncGenerator<SandboxChange, never, undefined> {
    return changesOf(this.#connection, options);
  }

  /**
   * A port of a sandbox, to send requests to: \`await client.preview('demo', 8000).fetch('/')\`.
   *
   * @param sandbox Name or ID.
   */
  preview(sandbox: string, port: number): Preview {
    return new Preview(() => this.getPortPreviewUrl({ sandbox, port }), this.#connection.url);
  }

${described.map(method).join('\n')}}
`;
}

function namespace(toolkit: string, described: Described[]): string {
  return `/** The tools of ${toolkit}. */
export class ${toolkit} {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

${described.map(method).join('\n')}}
`;
}

function method({ tool, method, typeName, input }: Described): string {
  const optional = (input.required ?? []).length === 0 ? ' = {}' : '';
  const parameters = `parameters: ${typeName}Parameters${optional}, options?: CallOptions`;
  const about = comment(tool.description, '  ').join('\n');
  return `${about}
  ${method}(${parameters}): Promise<${typeName}Result> {
    return this.#call(facts.${method}, parameters, options);
  }
`;
}

function pages(described: Described[]): string {
  return `/** Walks over lists that have pages, and fetches each when its first item is wanted. */
export class Iterate {
  readonly #client: Sandhaven;

  constructor(client: Sandhaven) {
    this.#client = client;
  }

${described.map(iterator).join('\n')}}
`;
}

function iterator({ method, toolkit, typeName, input, paging }: Described): string {
  const { walk, parameter, items } = paging as Paging;
  const optional = (input.required ?? []).length === 0 ? ' = {}' : '';
  const owner = toolkit === FLAT ? '' : `.${lowerFirst(toolkit)}`;
  return `  /** Each of the ${items} of \`${method}\`, from ${parameter} on where it is given. */
  ${method}(parameters: ${typeName}Parameters${optional}, options?: CallOptions) {
    return ${walk}(
      parameters.${parameter},
      (${parameter}) => this.#client${owner}.${method}({ ...parameters, ${parameter} }, options),
      (page) => page.${items},
    );
  }
`;
}
