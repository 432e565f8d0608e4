/** A token of one sandbox in the hands of a stranger: it works there, finds nothing else, and ends with its revocation. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleOf } from '../../docs/generate/examples.ts';
import { descriptions } from '../../src/catalog/describe.ts';
import { newSandboxId } from '../../src/model/ids.ts';
import { openTunnel } from '../../src/surfaces/cli/tunnel-client.ts';
import { visit } from '../gateways/visitor.ts';
import { act, mustAct, type Person, person } from '../support/people.ts';
import { call, must, type Service, startService } from '../support/service.ts';

const SIZE = { cpu: 1, memory_gb: 1, disk_gb: 1 };
const PORT = 8300;

let service: Service;
let ada: Person;
let box: string;
/** Of the same owner. */
let other: string;
let holder: { url: string; apiKey: string };
let tokenId: string;

const tokenOf = (sandbox: string) => mustAct(ada, 'CreateSandboxToken', { sandbox });

beforeAll(async () => {
  service = await startService();
  ada = await person(service, 'Ada');
  const create = async (name: string) => String((await must(ada, 'CreateSandbox', { name, ...SIZE }))['id']);
  [box, other] = [await create('box'), await create('other')];
  const made = await tokenOf('box');
  holder = { url: service.url, apiKey: String(made['token']) };
  tokenId = String(made['token_id']);
}, 120_000);

afterAll(() => service?.stop());

/** Actions and byte routes that are open to it, each as it works where the sandbox is there. */
const openActions: [string, Record<string, unknown>][] = [
  ['GetFileDetails', { path: '.' }],
  ['SetFileAttributes', { path: '.', mode: '755' }],
  ['DeleteSession', { session_id: 's' }],
  ['StartProcess', { command: 'sleep 60' }],
  ['ListProcesses', {}],
  ['SendProcessInput', { process: '1', input: 'x' }],
  ['SignalProcess', { process: '1', signal: 'TERM' }],
  ['ResizeProcess', { process: '1', cols: 80, rows: 24 }],
  ['EndProcess', { process: '1' }],
  ['ListTerminals', {}],
  ['EndTerminal', { terminal: 'main' }],
  ['GetFilePreviewUrl', { path: 'a.png' }],
];
const openTools = (
  'ListFiles FindFiles GetFileInfo ReadFile WriteFile CreateFolder MoveFile DeleteFile SearchContent ReplaceInFiles RunCode ' +
  'RunCommand CreateSession ListSessions RunSessionCommand GetSessionCommandLogs SendSessionInput ListPorts GetPortPreviewUrl'
).split(' ');
const byteRoutes: [string, string][] = [
  ['PUT', 'files?path=a'],
  ['GET', 'files?path=a'],
  ['HEAD', 'files?path=a'],
  ['GET', 'files/watch'],
  ['GET', 'processes/1/output'],
];

const missing = { status: 404, body: { code: 'not_found', resource: 'sandbox' } };

describe("another sandbox of the token's owner", () => {
  it.each(openTools)('is not found by %s, as if it had never been', async (name) => {
    const schema = descriptions.find((tool) => tool.name === `Sandbox.${name}`)?.input_schema ?? {};
    for (const sandbox of [other, 'other', newSandboxId()]) {
      const answer = await call(holder, name, { ...exampleOf(name, schema), sandbox });
      expect(answer, sandbox).toMatchObject(missing);
      expect(answer.body['detail']).toBe(`There is no sandbox '${sandbox}'.`);
    }
  });

  it.each(openActions)('is not found by the action %s', async (name, parameters) => {
    for (const sandbox of [other, 'other'])
      expect(await act(holder, name, { ...parameters, sandbox }), sandbox).toMatchObject(missing);
  });

  it.each(byteRoutes)('is not found by %s %s', async (method, route) => {
    const response = await fetch(`${service.url}/v1/sandboxes/${other}/${route}`, {
      method,
      headers: { authorization: `Bearer ${holder.apiKey}` },
      ...(method === 'PUT' ? { body: 'x' } : {}),
    });
    await response.body?.cancel();
    expect(response.status).toBe(404);
  });

  it('is not found by a tunnel', async () => {
    const { problem } = await openTunnel(holder, { sandbox: other, port: PORT }, AbortSignal.timeout(10_000));
    expect(problem).toMatchObject({ code: 'not_found', resource: 'sandbox' });
  });
});

describe('its own sandbox', () => {
  it('is worked in, unnamed, by name and by id', async () => {
    await must(holder, 'WriteFile', { path: 'a.txt', content: 'one' });
    expect(await must(holder, 'RunCommand', { sandbox: 'box', command: 'cat a.txt' })).toMatchObject({
      stdout: 'one',
    });
    expect(await must(holder, 'ReadFile', { sandbox: box, path: 'a.txt' })).toMatchObject({ content: 'one' });
    const { rows } = await mustAct(ada, 'ListAudit', { key: tokenId, action: 'Sandbox.RunCommand' });
    expect(rows).toContainEqual(
      expect.objectContaining({ user_id: ada.userId, key_id: tokenId, sandbox_id: box, outcome: 'ok' }),
    );
  });

  it('is seen in previews that end no later than the token, and in no others', async () => {
    const serve = `nohup python3 -m http.server ${PORT} >/dev/null 2>&1 & until curl -s 127.0.0.1:${PORT} >/dev/null; do sleep 0.1; done`;
    await must(holder, 'RunCommand', { command: serve });
    const asked = { sandbox: 'box', port: PORT };
    expect(await call(holder, 'GetPortPreviewUrl', asked)).toMatchObject({
      status: 403,
      body: { parameter: 'signed' },
    });
    const signed = await must(holder, 'GetPortPreviewUrl', {
      ...asked,
      signed: true,
      expires_in_seconds: 86_400,
    });
    const inMs = Date.parse(String(signed['expires_at'])) - Date.now();
    expect(inMs).toBeLessThanOrEqual(3_600_000);
    expect((await visit(String(signed['url']))).status).toBe(200);
  });

  it('is lost with a revocation, which ends what is open and the previews that the token made', async () => {
    const { url } = await must(holder, 'GetPortPreviewUrl', { sandbox: box, port: PORT, signed: true });
    const { connection } = await openTunnel(
      holder,
      { sandbox: box, port: PORT },
      AbortSignal.timeout(10_000),
    );
    const closed = new Promise<void>((resolve) =>
      connection?.once('close', () => resolve()).on('error', () => {}),
    );
    connection?.resume();
    const running = call(holder, 'RunCommand', { command: 'sleep 60' }).catch(() => null);
    const others = String((await tokenOf('other'))['token']);
    await expect
      .poll(
        async () => (await must(ada, 'RunCommand', { sandbox: box, command: 'pgrep -c sleep' }))['stdout'],
      )
      .toBe('1\n');
    await mustAct(ada, 'RevokeAccess', { sandbox: box, kind: 'token' });
    await closed;
    expect(await running).toBeNull();
    expect((await call(holder, 'ListFiles')).status).toBe(401);
    expect((await visit(String(url))).status).toBe(401);
    expect((await call({ ...holder, apiKey: others }, 'ListFiles')).status).toBe(200);
  });

  it('is gone for its tokens when it is deleted', async () => {
    const { token } = await tokenOf('other');
    const by = { ...holder, apiKey: String(token) };
    expect((await call(by, 'ListFiles')).status).toBe(200);
    await must(ada, 'DeleteSandbox', { sandbox: 'other' });
    expect((await call(by, 'ListFiles')).status).toBe(401);
  });
});
