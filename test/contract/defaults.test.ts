/** Shows every default of the contract as the service receives it when the parameter is left out. */
import { describe, expect, it } from 'vitest';
import { createFakeServices, user } from '../surfaces/fakes/fake-services.ts';
import { type Attempt, attempt } from './attempt.ts';
import { contract, parameters } from './table.ts';
import { callWith } from './values.ts';

/** Stands for the caller's only sandbox. */
const only = undefined;
const repository = { caller: user, sandbox: only };
const collection = { database_name: 'd', collection_name: 'c' };
const collectionName = { database: 'd', collection: 'c' };
/** Stands for the caller's signal and the like. */
const options = expect.anything();

/** Rows of a tool, its parameters, the call of a service that follows, and the arguments of that. */
const received: [string, Record<string, unknown>, string, unknown[]][] = [
  [
    'Sandbox.CreateSandbox',
    {},
    'sandboxes.create',
    [
      user,
      {
        ...{ language: 'python', envVars: {}, autoStopMinutes: 15, labels: {}, ephemeral: false },
        ...{ cpu: 2, memory: 4, disk: 20, gpu: 0 },
      },
      options,
    ],
  ],
  ['Sandbox.ListSandboxes', {}, 'sandboxes.list', [user, {}, { page: 1, pageSize: 20 }]],
  [
    'Sandbox.CreateSnapshot',
    { name: 's', image: 'i' },
    'snapshots.create',
    [user, { name: 's', image: 'i', resources: {} }, undefined],
  ],
  ['Sandbox.ListSnapshots', {}, 'snapshots.list', [user, { page: 1, pageSize: 20 }]],
  ['Sandbox.CreateSshAccess', { sandbox: 'x' }, 'sshAccess.create', [user, 'x', { expiresInMinutes: 60 }]],
  ['Sandbox.GetPortPreviewUrl', { sandbox: 'x', port: 80 }, 'previews.preview', [user, 'x', 80, null]],
  [
    'Sandbox.GetPortPreviewUrl',
    { sandbox: 'x', port: 80, signed: true },
    'previews.preview',
    [user, 'x', 80, 3_600],
  ],
  ['Sandbox.ListFiles', {}, 'files.list', [user, only, { path: '.', maxItems: 50, offset: 0 }, options]],
  [
    'Sandbox.FindFiles',
    { pattern: '*' },
    'files.find',
    [user, only, { path: '.', pattern: '*', maxItems: 50, offset: 0 }, options],
  ],
  [
    'Sandbox.WriteFile',
    { path: 'a', content: 'QQ==' },
    'files.write',
    // The content as it is, so its encoding is not base64.
    [user, only, { path: 'a', content: Buffer.from('QQ=='), createParents: true }, options],
  ],
  ['Sandbox.CreateFolder', { path: 'a' }, 'files.createFolder', [user, only, { path: 'a', mode: 0o755 }]],
  [
    'Sandbox.DeleteFile',
    { path: 'a' },
    'files.remove',
    [user, only, { path: 'a', recursive: false }, options],
  ],
  [
    'Sandbox.SearchContent',
    { query: 'q' },
    'files.search',
    [
      ...[user, only],
      { query: 'q', path: '.', contextLines: 0, maxItems: 50, offset: 0, output: 'matches' },
      options,
    ],
  ],
  [
    'Sandbox.RunCode',
    { code: 'c' },
    'execution.runCode',
    [user, only, { code: 'c', timeoutMs: 30_000 }, options],
  ],
  [
    'Sandbox.RunCommand',
    { command: 'c' },
    'execution.runCommand',
    [user, only, { command: 'c', env: {}, timeoutMs: 60_000 }, options],
  ],
  [
    'Sandbox.RunSessionCommand',
    { session_id: 's', command: 'c' },
    'sessions.run',
    // async_exec is false.
    [user, only, { sessionId: 's', command: 'c', wait: true }, options],
  ],
  [
    'Sandbox.GetSessionCommandLogs',
    { session_id: 's', command_id: 'c' },
    'sessions.logs',
    [user, only, { sessionId: 's', commandId: 'c', waitMs: 0 }, options],
  ],
  [
    'Sandbox.SendSessionInput',
    { session_id: 's', command_id: 'c', input: 'i' },
    'sessions.sendInput',
    [user, only, { sessionId: 's', commandId: 'c', input: 'i', waitMs: 0 }, options],
  ],
  [
    'Sandbox.GitClone',
    { url: 'https://example.org/a/project.git' },
    'git.clone',
    // The destination is named as the repository.
    [repository, { remote: expect.anything(), path: 'project' }, options],
  ],
  ['Sandbox.GitCheckout', { ref: 'r' }, 'git.checkout', [repository, 'r', options]],
  [
    'Sandbox.GitDeleteBranch',
    { branch: 'b' },
    'git.deleteBranch',
    [repository, { branch: 'b', force: false }, options],
  ],
  ['Sandbox.GitLog', {}, 'git.log', [repository, { maxCount: 20 }, options]],
  ['Sandbox.GitPush', {}, 'git.push', [repository, { force: false }, options]],
  ['DocumentDb.GetCollectionSchema', collection, 'documents.schema', [user, collectionName, 1_000, options]],
  [
    'DocumentDb.FindDocuments',
    collection,
    'documents.find',
    [user, { ...collectionName, sort: [], skip: 0, limit: 1_000 }, 16_777_216, options],
  ],
  [
    'DocumentDb.AggregateDocuments',
    { ...collection, pipeline: [] },
    'documents.aggregate',
    [user, { ...collectionName, pipeline: [], limit: 1_000 }, 16_777_216, options],
  ],
];

describe('a parameter that is left out', () => {
  it.each(received)(
    '[SBX-CREATE-12] [SBX-FILES-03] [SBX-FILES-06] [SBX-FILES-08] [SBX-FILES-18] [SBX-SEARCH-02] [SBX-SEARCH-06] [SBX-SESSION-04] [SBX-SNAP-03] %s %j reaches its service with the defaults',
    async (name, given, method, expected) => {
      const { reached } = await attempt(name, given);
      expect(reached[0]).toEqual({ method, given: expected });
    },
  );

  it('[SBX-GET-03] include_raw_env_vars keeps secrets of a sandbox hidden', async () => {
    const fake = createFakeServices();
    await attempt('Sandbox.CreateSandbox', { name: 'x', env_vars: { API_KEY: 'secret' } }, fake);
    const { answer } = await attempt('Sandbox.GetSandbox', { sandbox: 'x' }, fake);
    expect(answer).toMatchObject({ env_vars: { API_KEY: '[redacted]' } });
  });

  it('has its default seen above, whichever tool it is of', () => {
    const withDefaults = contract.filter(({ parameters }) =>
      Object.values(parameters).some((parameter) => parameter.default !== undefined),
    );
    const seen = [...received.map(([name]) => name), 'Sandbox.GetSandbox'];
    expect(withDefaults.map(({ name }) => name).filter((name) => !seen.includes(name))).toEqual([]);
  });
});

describe('a default that is given', () => {
  const rows = parameters
    .filter(([, , parameter]) => parameter.default !== undefined)
    .map(([tool, name, parameter]) => [tool.name, name, parameter.default, tool] as const);

  it.each(rows)('is the same as leaving the parameter out: %s %s %j', async (toolName, name, value, tool) => {
    const { [name]: given, ...without } = callWith(tool, name, value);
    expect(given).toEqual(value);
    const [left, said] = [
      await attempt(toolName, without),
      await attempt(toolName, { ...without, [name]: value }),
    ];
    expect(told(said)).toEqual(told(left));
    expect(left.reached.length).toBeGreaterThan(0);
  });
});

describe('a query that saves its result', () => {
  it.each([
    ['DocumentDb.FindDocuments', collection, 'documents.saveFind', { ...collectionName, sort: [], skip: 0 }],
    [
      'DocumentDb.AggregateDocuments',
      { ...collection, pipeline: [] },
      'documents.saveAggregate',
      { ...collectionName, pipeline: [] },
    ],
  ])('%s has no limit that is not given', async (name, parameters, method, query) => {
    const { reached } = await attempt(name, { ...parameters, save_to_sandbox: 'x', save_to_path: 'p' });
    expect(reached[0]).toEqual({ method, given: [user, query, { sandbox: 'x', path: 'p' }, options] });
  });
});

/** Leaves out signals and functions: JSON has none. */
function told({ reached }: Attempt): string {
  return JSON.stringify(reached);
}
