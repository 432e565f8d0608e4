/** The audit log of a real service: which sandbox, through which door, and through a kill. */

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openTunnel } from '../../src/surfaces/cli/tunnel-client.ts';
import { type Access, SshClient } from '../gateways/ssh/client.ts';
import { open } from '../gateways/visitor.ts';
import { auditWritten, replicaCount } from '../support/cluster-engine/differences.ts';
import { call, must, type Service, startService } from '../support/service.ts';
import { run, transports } from '../support/transports.ts';

const PORT = 8123;

type Row = Record<string, unknown>;

let service: Service;
let sandbox: string;
let owner: string;

beforeAll(async () => {
  service = await startService();
  owner = String((await must(service, 'WhoAmI'))['user_id']);
  sandbox = String(
    (await must(service, 'CreateSandbox', { name: 'audited', memory_gb: 1, disk_gb: 1 }))['id'],
  );
}, 120_000);
afterAll(() => service?.stop());

async function act(name: string, parameters: object): Promise<Row> {
  const response = await fetch(`${service.url}/v1/admin/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  const body = (await response.json()) as Row;
  if (!response.ok) throw new Error(JSON.stringify(body));
  return body;
}

/** Those since, in the order of their times, but for reads of the log. */
async function rowsSince(since: number): Promise<Row[]> {
  await auditWritten();
  const all: Row[] = [];
  for (let after = since, more = true; more; ) {
    const { rows, next_after, has_more } = await act('ListAudit', { after, limit: 1_000 });
    all.push(...(rows as Row[]));
    after = Number(next_after);
    more = has_more === true;
  }
  return all
    .filter(({ action }) => action !== 'ListAudit')
    .toSorted((one, other) => Date.parse(String(one['time'])) - Date.parse(String(other['time'])));
}

async function now(): Promise<number> {
  await auditWritten();
  return Number((await act('ListAudit', { limit: 1 }))['next_after']);
}

describe('a call', () => {
  it('is noted with its sandbox by name, by id, and when none is named', async () => {
    const since = await now();
    await must(service, 'GetSandbox', { sandbox: 'audited' });
    await must(service, 'RunCommand', { command: 'true' });
    await must(service, 'WriteFile', { sandbox, path: 'a', content: 'b' });
    await call(service, 'GetSandbox', { sandbox: 'nobody' });
    expect(await rowsSince(since)).toMatchObject([
      { action: 'Sandbox.GetSandbox', sandbox_id: sandbox, outcome: 'ok', user_id: owner },
      { action: 'Sandbox.RunCommand', sandbox_id: sandbox, outcome: 'ok' },
      { action: 'Sandbox.WriteFile', sandbox_id: sandbox, outcome: 'ok' },
      { action: 'Sandbox.GetSandbox', sandbox_id: null, outcome: 'not_found' },
    ]);
  });

  it('is noted with the sandbox that it creates or deletes', async () => {
    const since = await now();
    const { id } = await must(service, 'CreateSandbox', { memory_gb: 1, disk_gb: 1 });
    await must(service, 'DeleteSandbox', { sandbox: String(id) });
    expect(await rowsSince(since)).toMatchObject([
      { action: 'Sandbox.CreateSandbox', sandbox_id: id },
      { action: 'Sandbox.DeleteSandbox', sandbox_id: id },
    ]);
    const { rows } = await act('ListAudit', { sandbox: id });
    expect(rows).toHaveLength(2);
  });

  it('is noted with its own sandbox among many at once', async () => {
    const since = await now();
    const calls = Array.from({ length: 20 }, (_, index) =>
      call(service, 'GetSandbox', { sandbox: index % 2 === 0 ? sandbox : 'nobody' }),
    );
    await Promise.all(calls);
    const rows = await rowsSince(since);
    expect(rows).toHaveLength(20);
    for (const row of rows) expect(row['sandbox_id']).toBe(row['outcome'] === 'ok' ? sandbox : null);
  });

  it.each(Object.keys(transports))('is noted once, over %s', async (name) => {
    const transport = await transports[name]?.(service);
    if (!transport) throw new Error(name);
    const since = await now();
    try {
      await transport.invoke('GetSandbox', { sandbox: 'audited' });
    } finally {
      await transport.close();
    }
    expect(await rowsSince(since)).toMatchObject([
      {
        ...{ action: 'Sandbox.GetSandbox', outcome: 'ok', sandbox_id: sandbox, client_address: '127.0.0.1' },
        transport: name === 'MCP over HTTP' ? 'mcp' : 'http',
        request_id: expect.stringMatching(/^req_/),
      },
    ]);
  });
});

describe('a door', () => {
  beforeAll(async () => {
    await must(service, 'CreateSession', { sandbox, session_id: 'web' });
    const command = `python3 -m http.server ${PORT}`;
    await must(service, 'RunSessionCommand', { sandbox, session_id: 'web', command, async_exec: true });
    const listens = async () => {
      const { ports } = await must(service, 'ListPorts', { sandbox });
      return (ports as { port: number }[]).some(({ port }) => port === PORT);
    };
    await vi.waitUntil(listens, { timeout: 30_000, interval: 200 });
  });

  it('for bytes', async () => {
    const since = await now();
    const url = `${service.url}/v1/sandboxes/audited/files?path=bytes`;
    const headers = { authorization: `Bearer ${service.apiKey}` };
    await fetch(url, { method: 'PUT', headers, body: 'x' });
    await (await fetch(url, { headers })).text();
    expect(await rowsSince(since)).toMatchObject([
      { action: 'files.upload', sandbox_id: sandbox, outcome: 'ok' },
      { action: 'files.download', sandbox_id: sandbox, outcome: 'ok' },
    ]);
  });

  it('for tunnels, as it opens and as it closes', async () => {
    const since = await now();
    const never = new AbortController().signal;
    const { connection } = await openTunnel(service, { sandbox: 'audited', port: PORT }, never);
    if (!connection) throw new Error('no tunnel');
    expect(await rowsSince(since)).toMatchObject([
      { action: 'tunnel.open', outcome: 'ok', sandbox_id: sandbox },
    ]);
    connection.destroy();
    const closed = [{}, { action: 'tunnel.close', sandbox_id: sandbox }];
    await expect.poll(() => rowsSince(since)).toMatchObject(closed);
    await openTunnel(service, { sandbox: 'audited', port: 1 }, never);
    expect((await rowsSince(since)).at(-1)).toMatchObject({ action: 'tunnel.open', outcome: 'not_found' });
  });

  it('for SSH, with the token’s id and the owner', async () => {
    using client = new SshClient();
    const access = (await must(service, 'CreateSshAccess', { sandbox })) as unknown as Access;
    const since = await now();
    expect(await client.ssh(access, ['true'])).toMatchObject({ code: 0 });
    const who = {
      user_id: owner,
      key_id: expect.stringMatching(/^tok_/),
      sandbox_id: sandbox,
      transport: 'ssh',
    };
    await expect
      .poll(() => rowsSince(since))
      .toMatchObject([
        { action: 'ssh.login', outcome: 'ok', client_address: '127.0.0.1', ...who },
        { action: 'ssh.logout', ...who },
      ]);
  });

  it('for previews, once for each visitor and token', async () => {
    const standard = await must(service, 'GetPortPreviewUrl', { sandbox, port: PORT });
    const signed = await must(service, 'GetPortPreviewUrl', { sandbox, port: PORT, signed: true });
    const since = await now();
    const headers = { 'x-sandbox-preview-token': String(standard['token']) };
    for (let visit = 0; visit < 3; visit++) {
      (await open(String(standard['url']), { headers })).resume();
      (await open(String(signed['url']))).resume();
    }
    (await open(String(standard['url']))).resume();
    const grant = {
      action: 'preview.grant',
      outcome: 'ok',
      user_id: owner,
      sandbox_id: sandbox,
      transport: 'preview',
    };
    const rows = await rowsSince(since);
    // Each replica notes a visitor once.
    expect(rows.length).toBeLessThanOrEqual(2 * replicaCount);
    const byToken = new Map(rows.map((row) => [row['key_id'], row]));
    expect([...byToken.values()]).toMatchObject([
      { ...grant, key_id: null },
      { ...grant, key_id: expect.stringMatching(/^tok_/) },
    ]);
  });
});

describe('the whole log', () => {
  it('lacks, after a kill, at most what the last moments brought, and verifies', async () => {
    const since = await now();
    const acknowledged: { id: string; at: number }[] = [];
    let killed = 0;
    const calling = (async () => {
      while (killed === 0) {
        const response = await fetch(`${service.url}/v1/tools/Sandbox.WhoAmI`, {
          method: 'POST',
          headers: { authorization: `Bearer ${service.apiKey}` },
        }).catch(() => null);
        if (response?.ok)
          acknowledged.push({ id: response.headers.get('x-request-id') ?? '', at: Date.now() });
        await sleep(10);
      }
    })();
    await sleep(2_500);
    killed = Date.now();
    await service.kill();
    await calling;
    await service.restart();
    expect(await act('VerifyAudit', {})).toMatchObject({ intact: true, fault_count: 0, events_lost: 0 });
    const rows = await rowsSince(since);
    const kept = rows.filter(({ action }) => action === 'Sandbox.WhoAmI').map(({ request_id }) => request_id);
    const early = acknowledged.filter(({ at }) => at < killed - 1_500).map(({ id }) => id);
    expect(early.length).toBeGreaterThan(0);
    expect(kept.slice(0, early.length)).toEqual(early);
    // No stop before this start: that is how a kill shows.
    const starts = rows.map(({ action }) => action).filter((action) => String(action).startsWith('service.'));
    expect(starts).toEqual(Array(replicaCount).fill('service.start'));
  });

  it('shows what somebody does to the database, on the command line too', async () => {
    expect(await run(['audit', '--verify'], service)).toMatchObject({ code: 0 });
    await service.changeStore("UPDATE audit_log SET user_id = 'user_somebody' WHERE sequence = 3");
    const { code, stdout } = await run(['audit', '--verify'], service);
    expect(code).toBe(1);
    expect(stdout).toContain('Row 3: The row differs from the one that the service wrote.');
  });
});
