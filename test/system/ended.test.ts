/** A key that is revoked, and a user who is disabled: nothing is let in from then on, and what is open ends. */
import { type EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTunnel } from '../../src/surfaces/cli/tunnel-client.ts';
import { accessTo, SshClient } from '../gateways/ssh/client.ts';
import { open, visit } from '../gateways/visitor.ts';
import { mustAct, type Person, person } from '../support/people.ts';
import { call, must, type Service, startService } from '../support/service.ts';
import { run, transports } from '../support/transports.ts';

const PORT = 8200;
/** Answers a request at once, and says more for as long as somebody listens. */
const PROGRAM = `
import http.server, time
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.0'
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        while self.path == '/stream':
            self.wfile.write(b'more\\n')
            time.sleep(0.1)
        self.wfile.write(b'served\\n')
http.server.ThreadingHTTPServer(('127.0.0.1', ${PORT}), Handler).serve_forever()
`;

let service: Service;
let ada: Person;
let sandbox: string;

beforeAll(async () => {
  service = await startService();
  ada = await person(service, 'Ada');
  const created = await must(ada, 'CreateSandbox', { cpu: 1, memory_gb: 1, disk_gb: 1 });
  sandbox = String(created['id']);
  await must(ada, 'WriteFile', { path: 'serve.py', content: PROGRAM });
  await must(ada, 'RunCommand', {
    command: `nohup python3 serve.py >/dev/null 2>&1 & until curl -s 127.0.0.1:${PORT} >/dev/null; do sleep 0.1; done`,
  });
}, 120_000);

afterAll(() => service?.stop());

async function anotherKey(parameters: Record<string, unknown> = {}): Promise<{ id: string; as: Service }> {
  const key = await mustAct(ada, 'CreateKey', { name: 'another', ...parameters });
  return { id: String(key['key_id']), as: { ...service, apiKey: String(key['api_key']) } };
}

/** Listened for beforehand: it may be over before the answer that tells why. */
function closed(stream: EventEmitter): Promise<void> {
  return new Promise((resolve) => stream.once('close', () => resolve()));
}

async function tunnel(as: { url: string; apiKey: string }) {
  const { connection, problem } = await openTunnel(as, { sandbox, port: PORT }, AbortSignal.timeout(10_000));
  if (!connection) throw new Error(JSON.stringify(problem));
  connection.on('error', () => {});
  connection.resume();
  return connection;
}

describe('a key that is revoked', () => {
  it.each(Object.entries(transports))(
    '[WIRE-AUTH-04] opens nothing over %s any more',
    async (_name, factory) => {
      const { id, as } = await anotherKey();
      const transport = await factory(as);
      try {
        expect((await transport.invoke('WhoAmI', {})).result).toMatchObject({ email: ada.email });
        await mustAct(ada, 'RevokeKey', { key_id: id });
        // MCP's clients tell of a status of HTTP by an error of their own.
        const outcome = await transport
          .invoke('WhoAmI', {})
          .catch((error: unknown) => ({ problem: String(error) }));
        expect(JSON.stringify(outcome.problem)).toMatch(/unauthenticated|Unauthorized|401/);
      } finally {
        await transport.close().catch(() => {});
      }
      expect((await call(ada, 'WhoAmI')).status).toBe(200);
    },
  );

  it('ends its tunnels and its calls, and nothing of another key', async () => {
    const { id, as } = await anotherKey();
    const [ends, stays] = [await tunnel(as), await tunnel(ada)];
    const working = call(as, 'RunCommand', { command: 'echo begun > begun; sleep 30' }).catch(() => 'cut');
    await expect.poll(async () => (await call(ada, 'GetFileInfo', { path: 'begun' })).status).toBe(200);
    const end = closed(ends);
    await mustAct(ada, 'RevokeKey', { key_id: id });
    await end;
    expect(await working).toBe('cut');
    await expect
      .poll(async () => (await must(ada, 'RunCommand', { command: 'pgrep -x sleep | wc -l' }))['stdout'])
      .toBe('0\n');
    expect(stays.destroyed).toBe(false);
    stays.destroy();
  });

  it('stays revoked over a restart, and the sandboxes and other keys as they were', async () => {
    const { id, as } = await anotherKey();
    await mustAct(ada, 'RevokeKey', { key_id: id });
    await service.restart();
    ada = { ...ada, url: service.url };
    expect((await call({ ...as, url: service.url }, 'WhoAmI')).status).toBe(401);
    expect(await must(ada, 'GetSandbox', { sandbox })).toMatchObject({ state: 'started' });
  });
});

describe('a user who is disabled', () => {
  it('[SBX-PREVIEW-03] [SBX-SSH-05] has nothing open any more, and opens nothing until enabled again', async () => {
    using client = new SshClient();
    const access = await accessTo(ada as unknown as Service, sandbox, { expires_in_minutes: 0 });
    const ssh = client.start('ssh', client.arguments(access, [], ['echo in; sleep 60']));
    await once(ssh.stdout ?? ssh, 'data');
    const through = await tunnel(ada);
    const signed = await must(ada, 'GetPortPreviewUrl', { sandbox, port: PORT, signed: true });
    const stream = await open(`${signed['url']}stream`);
    stream.on('error', () => {});
    await once(stream, 'data');
    const working = call(ada, 'RunCommand', { command: 'sleep 60' }).catch(() => 'cut');

    const ends = Promise.all([closed(ssh), closed(through), closed(stream)]);
    await mustAct(service, 'DisableUser', { user: ada.email });
    await ends;
    expect(await working).toBe('cut');

    expect((await call(ada, 'WhoAmI')).status).toBe(401);
    expect(await visit(String(signed['url']))).toMatchObject({
      status: 403,
      text: expect.stringContaining('owner is disabled'),
    });
    const refused = await client.ssh(access, ['true']);
    expect(refused.code).not.toBe(0);
    expect((await run(['ls'], ada)).code).toBe(3);

    await mustAct(service, 'EnableUser', { user: ada.email });
    expect(await must(ada, 'GetSandbox', { sandbox })).toMatchObject({ state: 'started' });
    expect((await visit(String(signed['url']))).text).toContain('served');
    expect((await client.ssh(access, ['echo back'])).stdout.toString()).toBe('back\n');
  });
});
