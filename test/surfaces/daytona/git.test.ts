/** Git by Daytona's clients: by our tools, or by git's own program with quoted arguments. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GitService } from '../../../src/control/git/git-service.ts';
import { type ErrorCode, SandhavenError } from '../../../src/model/errors.ts';
import { addDaytonaRoutes } from '../../../src/surfaces/daytona/routes.ts';
import { parseStatus } from '../../../src/surfaces/daytona/toolbox/git/local.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

const SHA = '0123456789abcdef0123456789abcdef01234567';

interface Asked {
  command: string;
  cwd?: string;
  env: Record<string, string>;
  timeoutMs: number;
}

let http: Harness;
let sandbox: string;
/** Commands that a shell was given. */
let asked: Asked[];
/** Answers to them, in their order; an empty success when there is none. */
let answers: {
  exitCode?: number;
  stdout?: string;
  stderr?: string;
  truncated?: boolean;
  timedOut?: boolean;
}[];

beforeEach(async () => {
  http = await startHttp({ further: addDaytonaRoutes });
  [asked, answers] = [[], []];
  Object.assign(http.services.execution, {
    runCommand: async (_caller: unknown, _reference: unknown, request: Asked) => {
      asked.push(request);
      const ended = { stdout: '', stderr: '', exitCode: 0, timedOut: false, truncated: false };
      return { output: '', durationMs: 1, ...ended, ...answers.shift() };
    },
  });
  const made = await http.call('Sandbox.CreateSandbox', { name: 'box', language: 'python' });
  sandbox = ((await made.json()) as { id: string }).id;
});

afterEach(() => http.close());

async function ask(method: string, path: string, body?: unknown) {
  const response = await http.fetch(`/daytona/toolbox/${sandbox}/git${path}`, {
    method,
    ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

const START = "'git' '--no-pager' '-c' 'safe.directory=*' ";

/** Commands without their common beginning, and where they ran. */
const commands = () => asked.map(({ command, cwd }) => [command.replace(START, ''), cwd]);

/** Puts a function in place of one of the fake's, and returns what it is given. */
function answering<Name extends keyof GitService>(name: Name, answer: () => unknown): unknown[][] {
  const calls: unknown[][] = [];
  Object.assign(http.services.git, {
    [name]: async ({ path }: { path: string }, ...rest: unknown[]) => {
      calls.push([path, ...rest.slice(0, -1)]);
      return answer();
    },
  });
  return calls;
}

describe('by our tools', () => {
  it('clones, with what it may be given', async () => {
    const calls = answering('clone', () => ({ branch: 'main', sha: SHA }));
    const body = {
      ...{ url: 'https://example.org/p.git', path: 'p', branch: 'b', commit_id: 'abc123' },
      ...{ username: 'ann', password: 'token' },
    };
    expect(await ask('POST', '/clone', body)).toEqual({ status: 200, body: null });
    expect(calls[0]?.[1]).toMatchObject({
      ...{ path: 'p', branch: 'b', commitId: 'abc123', username: 'ann', password: 'token' },
      remote: { text: 'https://example.org/p.git' },
    });
  });

  it.each([
    ['insecure_skip_tls', true],
    ['depth', 1],
  ])('does not clone with %s', async (name, value) => {
    const calls = answering('clone', () => ({}));
    const { status, body } = await ask('POST', '/clone', {
      url: 'https://e.org/p',
      path: 'p',
      [name]: value,
    });
    expect([status, body.code, calls]).toEqual([501, 'NOT_IMPLEMENTED', []]);
    const none = { insecure_skip_tls: false, depth: 0 };
    expect((await ask('POST', '/clone', { url: 'https://e.org/p', path: 'p', ...none })).status).toBe(200);
  });

  it('stages, commits, checks out and deletes branches', async () => {
    const added = answering('add', () => ({ added: [], addedCount: 0, truncated: false }));
    const committed = answering('commit', () => ({ sha: SHA, branch: 'main' }));
    const checkedOut = answering('checkout', () => ({ branch: 'b', created: false }));
    const deleted = answering('deleteBranch', () => ({}));
    expect(await ask('POST', '/add', { path: 'p', files: ['.'] })).toEqual({ status: 200, body: null });
    const commit = { path: 'p', message: 'm', author: 'Ann', email: 'ann@example.org' };
    expect(await ask('POST', '/commit', commit)).toEqual({ status: 200, body: { hash: SHA } });
    expect(await ask('POST', '/commit', { ...commit, allow_empty: false, author: '' })).toMatchObject({
      status: 200,
    });
    expect((await ask('POST', '/checkout', { path: 'p', branch: 'b' })).status).toBe(200);
    expect(await ask('DELETE', '/branches', { path: 'p', name: 'b' })).toEqual({ status: 204, body: null });
    expect([added, committed, checkedOut, deleted]).toEqual([
      [['p', ['.']]],
      [
        ['p', { message: 'm', authorName: 'Ann', authorEmail: 'ann@example.org' }],
        ['p', { message: 'm', authorEmail: 'ann@example.org' }],
      ],
      [['p', 'b']],
      [['p', { branch: 'b', force: true }]],
    ]);
    expect(asked).toEqual([]);
  });

  it('shows branches and the history', async () => {
    expect(await ask('GET', '/branches?path=p')).toEqual({
      status: 200,
      body: { branches: ['main'], current: 'main' },
    });
    answering('branches', () => ({ branches: [], current: null, unborn: false, truncated: false }));
    expect((await ask('GET', '/branches?path=p')).body).toEqual({ branches: [], current: '' });
    expect((await ask('GET', '/history?path=p')).body).toEqual([
      {
        ...{ hash: SHA, author: 'Ada', email: 'ada@example.org', message: 'first' },
        timestamp: '1970-01-01T00:00:00.000Z',
      },
    ]);
  });

  it('pulls and pushes where nothing says from where, and with which login', async () => {
    const pulled = answering('pull', () => ({ branch: 'b', updated: true, sha: SHA, remote: 'o', url: 'u' }));
    const pushed = answering('push', () => ({ branch: 'b', remote: 'o', url: 'u' }));
    await ask('POST', '/pull', { path: 'p', branch: 'b' });
    await ask('POST', '/push', { path: 'p', branch: 'b', set_upstream: true, username: null });
    expect([pulled, pushed]).toEqual([[['p', 'b']], [['p', { force: false, branch: 'b' }]]]);
    expect(asked).toEqual([]);
  });
});

describe("by git's own program", () => {
  it('quotes arguments, and asks nobody', async () => {
    const name = `it's "$(x)"\n\\`;
    await ask('POST', '/config', { key: 'a.b', value: name, scope: 'local', path: 'p q' });
    expect(asked).toEqual([
      {
        command: `${START}'config' '--local' '--replace-all' '--' 'a.b' 'it'\\''s "$(x)"\n\\'`,
        cwd: 'p q',
        env: {
          ...{ LC_ALL: 'C.UTF-8', GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: 'true' },
          ...{ GIT_OPTIONAL_LOCKS: '0', GIT_LITERAL_PATHSPECS: '1' },
        },
        timeoutMs: 600_000,
      },
    ]);
  });

  it('pulls and pushes with a login, which stands in the environment alone', async () => {
    const login = { path: 'p', username: 'ann', password: "to'ken" };
    await ask('POST', '/pull', login);
    await ask('POST', '/push', { ...login, branch: 'b', remote: 'up', set_upstream: true });
    await ask('POST', '/push', { path: 'p', password: 'x' });
    const [pull, push, other] = asked;
    expect(pull?.command).toMatch(
      /^.* '-c' 'credential\.helper=' '-c' 'credential\.helper=!f\(\) .*' 'pull' /s,
    );
    expect(pull?.command).toMatch(/ 'pull' '--no-rebase' '--no-edit' '--'$/);
    expect(push?.command).toMatch(/ 'push' '--set-upstream' '--' 'up' 'b'$/);
    expect(other?.command).toMatch(/ 'push' '--' 'origin' 'HEAD'$/);
    expect(pull?.env).toMatchObject({ GIT_LOGIN_USERNAME: 'ann', GIT_LOGIN_PASSWORD: "to'ken" });
    expect(other?.env).toMatchObject({ GIT_LOGIN_USERNAME: 'git', GIT_LOGIN_PASSWORD: 'x' });
    expect(pull?.command).not.toContain('ken');
  });

  it('pulls and pushes where a remote is named', async () => {
    await ask('POST', '/pull', { path: 'p', remote: 'up', branch: 'b' });
    await ask('POST', '/push', { path: 'p', remote: 'up' });
    expect(commands()).toEqual([
      ["'pull' '--no-rebase' '--no-edit' '--' 'up' 'b'", 'p'],
      ["'push' '--' 'up' 'HEAD'", 'p'],
    ]);
  });

  it('makes repositories and branches', async () => {
    expect(await ask('POST', '/init', { path: 'p', bare: true, initial_branch: 't' })).toEqual({
      ...{ status: 201, body: null },
    });
    expect(http.files.has('p')).toBe(true);
    expect((await ask('POST', '/init', { path: 'q' })).status).toBe(201);
    expect((await ask('POST', '/branches', { path: 'p', name: 'b' })).status).toBe(201);
    expect((await ask('POST', '/branches', { path: 'p', name: '-D' })).status).toBe(400);
    expect(commands()).toEqual([
      ["'init' '--quiet' '--bare' '--initial-branch=t'", 'p'],
      ["'init' '--quiet'", 'q'],
      ["'branch' '--' 'b'", 'p'],
    ]);
  });

  it('makes empty commits', async () => {
    answers = [{}, { stdout: `${SHA}\n` }];
    const body = { path: 'p', message: 'm', author: 'Ann', email: 'a@x', allow_empty: true };
    expect(await ask('POST', '/commit', body)).toEqual({ status: 200, body: { hash: SHA } });
    expect(commands()).toEqual([
      ["'commit' '--quiet' '--allow-empty' '--cleanup=verbatim' '--message=m'", 'p'],
      ["'rev-parse' 'HEAD'", 'p'],
    ]);
    expect(asked[0]?.env).toMatchObject({
      ...{ GIT_AUTHOR_NAME: 'Ann', GIT_COMMITTER_NAME: 'Ann' },
      ...{ GIT_AUTHOR_EMAIL: 'a@x', GIT_COMMITTER_EMAIL: 'a@x' },
    });
  });

  it('resets and restores', async () => {
    await ask('POST', '/reset', { path: 'p' });
    await ask('POST', '/reset', { path: 'p', mode: 'hard', target: 'HEAD~1' });
    await ask('POST', '/reset', { path: 'p', mode: 'mixed', files: ['a'] });
    await ask('POST', '/restore', { path: 'p', files: ['a', '-b'] });
    await ask('POST', '/restore', { path: 'p', files: ['a'], staged: true, worktree: true, source: 'v1' });
    expect(commands().map(([command]) => command)).toEqual([
      "'reset' '--quiet' 'HEAD' '--'",
      "'reset' '--quiet' '--hard' 'HEAD~1' '--'",
      "'reset' '--quiet' 'HEAD' '--' 'a'",
      "'restore' '--' 'a' '-b'",
      "'restore' '--staged' '--worktree' '--source=v1' '--' 'a'",
    ]);
  });

  it.each([
    ['/reset', { mode: 'odd' }],
    ['/reset', { target: '--hard' }],
    ['/reset', { files: 'a' }],
    ['/reset', { path: '' }],
    ['/restore', { source: '-x' }],
    ['/pull', { remote: 'up', branch: 'a:b' }],
    ['/config', { key: 'a.b', scope: 'worktree' }],
    ['/config', { key: 'a.b', scope: 'local', path: undefined }],
    ['/config', {}],
    ['/config', { key: 'a\0b' }],
    ['/remotes', { name: 'up' }],
    ['/credentials', { username: 'ann', password: 'to\nken' }],
  ])('refuses %s with %j', async (path, body) => {
    expect((await ask('POST', path, { path: 'p', ...body })).status).toBe(400);
    expect(asked).toEqual([]);
  });

  it('reads and sets its configuration', async () => {
    answers = [{ stdout: 'one\ntwo\0' }, { exitCode: 1 }];
    expect(await ask('GET', '/config?key=a.b')).toEqual({ status: 200, body: { value: 'one\ntwo' } });
    expect((await ask('GET', '/config?key=a.b&scope=local&path=p')).body).toEqual({ value: null });
    await ask('POST', '/config/user', { name: 'Ann', email: 'a@x', scope: 'system', path: 'p' });
    await ask('POST', '/config', { key: 'a.b', value: '' });
    expect(commands()).toEqual([
      ["'config' '--global' '--null' '--get' '--' 'a.b'", undefined],
      ["'config' '--local' '--null' '--get' '--' 'a.b'", 'p'],
      ["'config' '--system' '--replace-all' '--' 'user.name' 'Ann'", undefined],
      ["'config' '--system' '--replace-all' '--' 'user.email' 'a@x'", undefined],
      ["'config' '--global' '--replace-all' '--' 'a.b' ''", undefined],
    ]);
  });

  it('shows remotes, each with its first URL', async () => {
    answers = [
      { stdout: 'remote.origin.url\nhttps://e.org/a\0remote.up.url\n/b\0remote.up.url\n/c\0' },
      { exitCode: 1 },
    ];
    expect((await ask('GET', '/remotes?path=p')).body).toEqual({
      remotes: [
        { name: 'origin', url: 'https://e.org/a' },
        { name: 'up', url: '/b' },
      ],
    });
    expect((await ask('GET', '/remotes?path=p')).body).toEqual({ remotes: [] });
  });

  it('adds a remote, or changes it where that is asked for', async () => {
    const remote = { path: 'p', name: 'up', url: '/b' };
    expect(await ask('POST', '/remotes', remote)).toEqual({ status: 201, body: null });
    await ask('POST', '/remotes', { ...remote, overwrite: true, fetch: true });
    answers = [{ exitCode: 2 }];
    await ask('POST', '/remotes', { ...remote, overwrite: true });
    expect(commands().map(([command]) => command)).toEqual([
      "'remote' 'add' '--' 'up' '/b'",
      "'remote' 'set-url' '--' 'up' '/b'",
      "'fetch' '--quiet' '--' 'up'",
      "'remote' 'set-url' '--' 'up' '/b'",
      "'remote' 'add' '--' 'up' '/b'",
    ]);
  });

  it('keeps a login for a host, given by the environment alone', async () => {
    await ask('POST', '/credentials', { username: 'ann', password: 'token' });
    expect(asked[0]?.command).toBe(
      'git config --global --replace-all credential.helper store && printf "%s\\n\\n" "$GIT_LOGIN" | git credential approve',
    );
    expect(asked[0]?.env['GIT_LOGIN']).toBe('protocol=https\nhost=github.com\nusername=ann\npassword=token');
  });
});

describe('the status', () => {
  const printed = (...lines: string[]) => lines.map((line) => `${line}\0`).join('');
  const entry = '100644 100644 100644 0000000 0000000';

  it('names the state of each file', async () => {
    answers = [
      {
        stdout: printed(
          ...['# branch.oid 0', '# branch.head main', '# branch.upstream origin/main', '# branch.ab +2 -1'],
          ...[`1 .M N... ${entry} a`, `1 A. N... ${entry} b c`, `1 DT N... ${entry} d`],
          ...[`2 R. N... ${entry} R100 new name`, 'old name'],
          ...[`u UU N... 1 2 3 4 a b c e`, '? sub/u'],
        ),
      },
    ];
    const file = (name: string, staging: string, worktree: string, extra = '') => ({
      ...{ name, staging, worktree, extra },
    });
    expect(await ask('GET', '/status?path=p')).toEqual({
      status: 200,
      body: {
        ...{ currentBranch: 'main', detached: false, upstream: 'origin/main' },
        ...{ ahead: 2, behind: 1, branchPublished: true },
        fileStatus: [
          file('a', 'Unmodified', 'Modified'),
          file('b c', 'Added', 'Unmodified'),
          file('d', 'Deleted', 'Modified'),
          file('new name', 'Renamed', 'Unmodified', 'old name'),
          file('e', 'Updated but unmerged', 'Updated but unmerged'),
          file('sub/u', 'Untracked', 'Untracked'),
        ],
      },
    });
    expect(commands()).toEqual([["'status' '--porcelain=v2' '--branch' '-z' '--untracked-files=all'", 'p']]);
  });

  it('says of HEAD where it is', () => {
    const none = { upstream: '', ahead: 0, behind: 0, branchPublished: false, fileStatus: [] };
    expect(parseStatus(printed('# branch.oid (initial)', '# branch.head main'))).toEqual({
      ...{ currentBranch: 'main', detached: false, ...none },
    });
    expect(parseStatus(printed('# branch.oid 0', '# branch.head (detached)'))).toEqual({
      ...{ currentBranch: 'HEAD', detached: true, ...none },
    });
  });

  it.each(['x', '1 X. N... a', '9 M. b'])('is none in %j', (line) => {
    expect(() => parseStatus(printed(line))).toThrow("does not answer in Git's formats");
  });

  it('is refused where it is too long, or took too long', async () => {
    answers = [{ truncated: true }, { timedOut: true }];
    expect((await ask('GET', '/status?path=p')).status).toBe(422);
    expect((await ask('GET', '/status?path=p')).status).toBe(408);
  });
});

describe('failures', () => {
  const own: [stderr: string, status: number, code: string][] = [
    ["fatal: Authentication failed for 'https://e.org/'", 401, 'GIT_AUTH_FAILED'],
    ['fatal: could not read Username for https://e.org: terminal prompts disabled', 401, 'GIT_AUTH_FAILED'],
    ["remote: Repository not found.\nfatal: repository 'u' not found", 404, 'GIT_REPO_NOT_FOUND'],
    ['fatal: not a git repository (or any of the parent directories): .git', 404, 'GIT_REPO_NOT_FOUND'],
    ['CONFLICT (content): Merge conflict in a\nAutomatic merge failed', 409, 'GIT_MERGE_CONFLICT'],
    [
      'error: Your local changes to the following files would be overwritten by merge',
      409,
      'GIT_DIRTY_WORKTREE',
    ],
    [' ! [remote rejected] main (pre-receive hook declined)', 422, 'GIT_REMOTE_REJECTED'],
    [' ! [rejected] main -> main (fetch first)', 409, 'GIT_PUSH_REJECTED'],
    ["fatal: a branch named 'b' already exists", 409, 'GIT_BRANCH_EXISTS'],
    ['error: src refspec b does not match any', 404, 'GIT_BRANCH_NOT_FOUND'],
    ["fatal: unable to access 'https://e.org/': Could not resolve host: e.org", 502, 'GIT_TRANSPORT_FAILED'],
    ["error: pathspec 'a' did not match any file(s) known to git", 422, 'FAILED_PRECONDITION'],
  ];

  it.each(own)('of git, %j, have status %i and code %s', async (stderr, status, code) => {
    answers = [{ exitCode: 1, stderr }];
    const { status: got, body } = await ask('POST', '/push', { path: 'p', remote: 'up' });
    expect([got, body.code, body.message]).toEqual([status, code, `Git says: ${stderr.trim()}`]);
  });

  const ours: [code: ErrorCode, detail: string, status: number, theirs: string][] = [
    ['failed_precondition', "There is no Git repository at 'p'.", 404, 'GIT_REPO_NOT_FOUND'],
    ['not_found', 'e.org has no such repository for this user.', 404, 'GIT_REPO_NOT_FOUND'],
    ['permission_denied', 'The remote e.org refuses these credentials.', 401, 'GIT_AUTH_FAILED'],
    ['failed_precondition', "There are conflicts in 'a'.", 409, 'GIT_MERGE_CONFLICT'],
    ['failed_precondition', "The branch 'b' was refused: [rejected] (fetch first)", 409, 'GIT_PUSH_REJECTED'],
    ['not_found', "There is no branch 'b' at the remote.", 404, 'GIT_BRANCH_NOT_FOUND'],
    ['unavailable', 'e.org cannot be reached, or broke off.', 502, 'GIT_TRANSPORT_FAILED'],
    ['failed_precondition', 'Nothing is staged.', 422, 'FAILED_PRECONDITION'],
  ];

  it.each(ours)('of ours, %s %j, have status %i and code %s', async (code, detail, status, theirs) => {
    answering('pull', () => {
      throw new SandhavenError(code, detail);
    });
    const { status: got, body } = await ask('POST', '/pull', { path: 'p' });
    expect([got, body.code, body.source]).toEqual([status, theirs, 'DAYTONA_DAEMON']);
  });

  it('repeat no credentials of a URL', async () => {
    answers = [{ exitCode: 128, stderr: 'fatal: unable to access https://ann:secret@e.org/' }];
    const { body } = await ask('POST', '/push', { path: 'p', remote: 'up' });
    expect(body.message).toBe('Git says: fatal: unable to access https://e.org/');
  });
});
