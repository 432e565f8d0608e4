/**
 * Two users in one service: whatever is the other's is not there, by id and by name, in the very words in which what
 * never was is not there.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleOf } from '../../docs/generate/examples.ts';
import { descriptions, type ToolDescription } from '../../src/catalog/describe.ts';
import { newSandboxId, newSnapshotId } from '../../src/model/ids.ts';
import { openTunnel } from '../../src/surfaces/cli/tunnel-client.ts';
import { type Access, accessTo, SshClient } from '../gateways/ssh/client.ts';
import { visit } from '../gateways/visitor.ts';
import { type RawRegistry, startRawRegistry } from '../images/registry/raw-registry.ts';
import { tarGz } from '../images/tar.ts';
import { startGitServer } from '../support/git-server.ts';
import { act, mustAct, type Person, person } from '../support/people.ts';
import { call, must, type Service, startService } from '../support/service.ts';

let service: Service;
let registry: RawRegistry;
let ada: Person;
let ben: Person;
/** Ada's. */
let hers: { id: string; name: string };
/** Ben's. */
let his: { id: string; name: string };

const SIZE = { cpu: 1, memory_gb: 1, disk_gb: 1 };

beforeAll(async () => {
  registry = await startRawRegistry();
  service = await startService({ flags: ['--registry-allow', `all,${registry.address}`] });
  ada = await person(service, 'Ada');
  ben = await person(service, 'Ben');
  const make = async (owner: Person, name: string) => {
    const { id } = await must(owner, 'CreateSandbox', { name, ...SIZE });
    return { id: String(id), name };
  };
  hers = await make(ada, 'hers');
  his = await make(ben, 'his');
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await registry?.close();
});

const withSandbox = descriptions.filter(({ input_schema }) => 'sandbox' in (input_schema.properties ?? {}));

/** Parameters with which the tool would work, were the sandbox there. */
function example({ name, input_schema }: ToolDescription): Record<string, unknown> {
  return exampleOf(name.split('.')[1] ?? '', input_schema);
}

/** The whole problem, with what was asked for and the request's own id taken out. */
async function refusal(
  tool: string,
  parameters: Record<string, unknown>,
  asked: string,
): Promise<{ status: number; problem: string }> {
  const { status, body } = await call(ben, tool, parameters);
  const { request_id, ...problem } = body;
  expect(request_id).toMatch(/^req_/);
  return { status, problem: JSON.stringify(problem).replaceAll(asked, '<asked>') };
}

describe("another's sandbox", () => {
  it('is looked for by nearly every tool', () => {
    expect(withSandbox.length).toBe(43);
  });

  it.each(withSandbox.map((tool) => [tool.name, tool] as const))(
    '[WIRE-ERR-09] is not found by %s, as if it had never been',
    async (name, tool) => {
      const problems = [];
      for (const sandbox of [hers.id, hers.name, newSandboxId(), 'nobodys']) {
        problems.push(await refusal(name, { ...example(tool), sandbox }, sandbox));
      }
      expect(problems[0]).toMatchObject({
        status: 404,
        problem: expect.stringMatching(/"code":"not_found".*'<asked>'.*"resource":"sandbox"/),
      });
      expect(new Set(problems.map((problem) => JSON.stringify(problem))).size).toBe(1);
    },
  );

  it('is not touched by any of it, and its owner has it as before', async () => {
    expect(await must(ada, 'GetSandbox', { sandbox: hers.name })).toMatchObject({
      ...{ id: hers.id, state: 'started', labels: {}, resources: { cpu: 1, memory: 1, disk: 1 } },
    });
    expect(await must(ada, 'ListFiles', { sandbox: hers.id })).toMatchObject({ total_count: 0 });
    expect(await must(ada, 'ListSessions', { sandbox: hers.id })).toEqual({ sessions: [] });
  });

  it('is in no list, counts for none, and is no candidate where none is named', async () => {
    expect(await must(ben, 'ListSandboxes')).toMatchObject({ sandboxes: [{ id: his.id }], total_count: 1 });
    expect(await must(ben, 'RunCommand', { command: 'hostname; echo mine' })).toMatchObject({
      exit_code: 0,
    });
    const nobody = await person(service, 'Nobody');
    expect((await call(nobody, 'RunCommand', { command: 'true' })).body).toMatchObject({
      code: 'ambiguous_sandbox',
      detail: 'No sandbox was named, and there is none.',
    });
  });

  it('takes no name from anybody', async () => {
    const { id } = await must(ben, 'CreateSandbox', { name: hers.name, ...SIZE });
    expect(await must(ben, 'GetSandbox', { sandbox: hers.name })).toMatchObject({ id });
    expect(await must(ada, 'GetSandbox', { sandbox: hers.name })).toMatchObject({ id: hers.id });
    await must(ben, 'DeleteSandbox', { sandbox: hers.name });
    expect(await must(ada, 'GetSandbox', { sandbox: hers.name })).toMatchObject({ id: hers.id });
  });

  it('is not answered for under the same Idempotency-Key', async () => {
    const create = (owner: Person) =>
      call(owner, 'CreateSandbox', { name: 'once', ...SIZE }, { 'idempotency-key': 'the-same' });
    const [first, second] = [await create(ada), await create(ben)];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body['id']).not.toBe(first.body['id']);
    for (const owner of [ada, ben]) await must(owner, 'DeleteSandbox', { sandbox: 'once' });
  });

  it("an admin's key finds it no more than anybody's", async () => {
    expect((await call(service, 'GetSandbox', { sandbox: hers.id })).status).toBe(404);
    const { users } = (await mustAct(service, 'ListUsers')) as { users: Record<string, unknown>[] };
    expect(users.find(({ user_id }) => user_id === ada.userId)).toMatchObject({
      usage: { sandboxes: { used: 1, limit: 50, left: 49 }, cpu: { used: 1 }, disk: { used: 1 } },
    });
  });
});

describe('over the byte routes', () => {
  it.each(['GET', 'HEAD', 'PUT'])('[WIRE-ERR-09] %s does not find it either', async (method) => {
    const answers = [];
    for (const sandbox of [hers.id, hers.name, newSandboxId(), 'nobodys']) {
      const response = await fetch(`${service.url}/v1/sandboxes/${sandbox}/files?path=/etc/hostname`, {
        method,
        headers: { authorization: `Bearer ${ben.apiKey}` },
        ...(method === 'PUT' ? { body: 'x' } : {}),
      });
      const text = (await response.text()).replaceAll(sandbox, '<asked>').replace(/req_\w+/, '<id>');
      answers.push(JSON.stringify([response.status, text]));
    }
    expect(answers[0]).toContain('404');
    expect(new Set(answers).size).toBe(1);
  });

  it('nor does a tunnel', async () => {
    await must(ada, 'RunCommand', {
      sandbox: hers.id,
      command: 'nohup python3 -m http.server --bind 127.0.0.1 8123 >/dev/null 2>&1 & sleep 1',
    });
    const problems = [];
    for (const sandbox of [hers.id, hers.name, newSandboxId(), 'nobodys']) {
      const { problem } = await openTunnel(ben, { sandbox, port: 8123 }, AbortSignal.timeout(10_000));
      const { request_id: _, ...rest } = problem ?? { request_id: '' };
      problems.push(JSON.stringify(rest).replaceAll(sandbox, '<asked>'));
    }
    expect(problems[0]).toContain('"resource":"sandbox"');
    expect(new Set(problems).size).toBe(1);
    const { connection } = await openTunnel(
      ada,
      { sandbox: hers.id, port: 8123 },
      AbortSignal.timeout(10_000),
    );
    expect(connection).toBeDefined();
    connection?.destroy();
  });
});

describe('by tokens', () => {
  it("[SBX-PREVIEW-03] one's own preview token opens nobody else's port", async () => {
    const of = (owner: Person, sandbox: string) => must(owner, 'GetPortPreviewUrl', { sandbox, port: 8123 });
    const [her, own] = [await of(ada, hers.id), await of(ben, his.id)];
    const withToken = (url: unknown, token: unknown) =>
      visit(String(url), { headers: { 'x-sandbox-preview-token': String(token) } });
    expect((await withToken(her['url'], her['token'])).status).toBe(200);
    const refused = await withToken(her['url'], own['token']);
    const nowhere = String(her['url']).replace(hers.id.slice(3), newSandboxId().slice(3));
    const absent = await withToken(nowhere, own['token']);
    expect([refused.status, refused.text]).toEqual([401, absent.text]);
    expect(absent.status).toBe(401);

    const signed = await must(ben, 'GetPortPreviewUrl', { sandbox: his.id, port: 8123, signed: true });
    const label = String(signed['url']).replace(/^http:\/\/8123-(\w+)\..*$/, '$1');
    expect((await withToken(her['url'], label)).status).toBe(401);
  });

  it("[SBX-SSH-05] one's own SSH token opens nobody else's sandbox", async () => {
    using client = new SshClient();
    const own = (await accessTo(ben as unknown as Service, his.id)) as Access;
    const ran = await client.sshWithPassword(own, hers.id, own.access_token, ['true']);
    expect(ran.code).toBe(255);
    const good = await client.sshWithPassword(own, his.id, own.access_token, ['true']);
    expect(good.code).toBe(0);
  });
});

describe('access', () => {
  it("[WIRE-ERR-09] to another's sandbox is revoked by its owner alone", async () => {
    const access = await accessTo(ada as unknown as Service, hers.id);
    const answers = [];
    for (const as of [ben, service]) {
      for (const sandbox of [hers.id, hers.name, newSandboxId(), 'nobodys']) {
        const { status, body } = await act(as, 'RevokeAccess', { sandbox });
        const { request_id: _, ...problem } = body;
        answers.push(`${status} ${JSON.stringify(problem).replaceAll(sandbox, '<asked>')}`);
      }
    }
    expect(answers[0]).toMatch(/^404 .*"code":"not_found".*"resource":"sandbox"/);
    expect(new Set(answers).size).toBe(1);
    using client = new SshClient();
    expect((await client.ssh(access, ['true'])).code).toBe(0);
    expect(await mustAct(ada, 'RevokeAccess', { sandbox: hers.name })).toMatchObject({ sandbox: hers.id });
    expect((await client.ssh(access, ['true'])).code).toBe(255);
  });
});

describe("another's session", () => {
  it.each(descriptions.filter(({ input_schema }) => 'session_id' in (input_schema.properties ?? {})))(
    '[WIRE-ERR-09] is not found by $name in a sandbox of one’s own',
    async (tool) => {
      // CreateSession takes an id that nobody in this sandbox has.
      if (tool.name === 'Sandbox.CreateSession') return;
      const created = await must(ada, 'CreateSession', { sandbox: hers.id });
      const session_id = String(created['session_id']);
      const ask = (id: string) =>
        refusal(tool.name, { ...example(tool), sandbox: his.id, session_id: id }, id);
      const refused = await ask(session_id);
      expect(refused.problem).toMatch(/"code":"not_found"/);
      expect(refused).toEqual(await ask('session_0000000000000000'));
    },
  );
});

describe("another's snapshot", () => {
  it('[WIRE-ERR-09] is not found, by id and by name, and makes no sandbox', async () => {
    registry.put('theirs', { layers: [tarGz([{ name: 'etc/motd', content: 'hello' }])] });
    const { id } = await must(ada, 'CreateSnapshot', {
      name: 'her snapshot',
      image: `${registry.address}/theirs:1`,
    });
    const state = async () => (await must(ada, 'GetSnapshot', { snapshot: 'her snapshot' }))['state'];
    await expect.poll(state, { timeout: 60_000 }).toBe('active');
    expect((await must(ben, 'ListSnapshots'))['total_count']).toBe(1);
    for (const tool of ['GetSnapshot', 'CreateSandbox']) {
      const problems = [];
      for (const snapshot of [String(id), 'her snapshot', newSnapshotId(), 'nobodys']) {
        problems.push(await refusal(tool, { snapshot }, snapshot));
      }
      expect(problems[0]?.problem).toMatch(/"code":"not_found".*"resource":"snapshot"/);
      expect(new Set(problems.map((problem) => JSON.stringify(problem))).size).toBe(1);
    }
    expect((await must(ben, 'ListSandboxes'))['total_count']).toBe(1);
    const deletions = [];
    for (const snapshot of [String(id), 'her snapshot', newSnapshotId(), 'nobodys']) {
      const { status, body } = await act(ben, 'DeleteSnapshot', { snapshot });
      const { request_id: _, ...problem } = body;
      deletions.push(`${status} ${JSON.stringify(problem).replaceAll(snapshot, '<asked>')}`);
    }
    expect(deletions[0]).toMatch(/^404 .*"code":"not_found".*"resource":"snapshot"/);
    expect(new Set(deletions).size).toBe(1);
    expect(await state()).toBe('active');
  });
});

describe("another's Git credentials", () => {
  it('open nothing from a sandbox of one’s own, though the remote is the same', async () => {
    const user = { username: 'ada', password: 'only-hers' };
    const remote = await startGitServer(user);
    try {
      const url = remote.create('private', { 'a.txt': 'one\n' });
      await must(ada, 'GitClone', { sandbox: hers.id, url, path: 'private', ...user });
      await must(ada, 'GitPull', { sandbox: hers.id, path: 'private' });
      const set = `git init -q private && git -C private remote add origin ${url}`;
      await must(ben, 'RunCommand', { sandbox: his.id, command: set });
      for (const [tool, parameters] of [
        ['GitPull', { path: 'private', branch: 'main' }],
        ['GitClone', { url, path: 'cloned' }],
      ] as const) {
        const { status, body } = await call(ben, tool, { sandbox: his.id, ...parameters });
        expect({ tool, status: status >= 400, code: body['code'] }).toMatchObject({ tool, status: true });
        expect(JSON.stringify(body)).not.toContain(user.password);
      }
      expect(await must(ben, 'RunCommand', { sandbox: his.id, command: 'ls cloned' })).not.toMatchObject({
        exit_code: 0,
      });
    } finally {
      await remote.close();
    }
  });
});
