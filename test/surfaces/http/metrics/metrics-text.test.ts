/** Names, units, help and values of metrics, by the rules of Prometheus, and the bound on their number. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { families } from '../../../../src/surfaces/http/metrics/exposition.ts';
import { type Harness, startHttp } from '../http-harness.ts';
import { parseScrape, sampleValue } from './scrape.ts';

let http: Harness;

beforeEach(async () => {
  http = await startHttp();
});

afterEach(() => http.close());

const scrape = async () => parseScrape(await (await http.fetch('/metrics')).text());

/** Values that labels of the service's own metrics may have, besides names of tools and actions. */
const words: Record<string, string[]> = {
  way: ['warm', 'cold'],
  state: ['started', 'stopped', 'archived', 'error'],
  share: [
    ...[
      'requests',
      'event_streams',
      'terminals',
      'processes',
      'file_watches',
      'tunnels',
      'previews',
      'file_previews',
      'ssh',
    ],
    'git',
  ],
  status: ['1xx', '2xx', '3xx', '4xx', '5xx'],
  worker: ['scheduler', 'reconciler'],
  use: ['active', 'idle'],
};

describe('metrics', () => {
  it('of the process are asked for by public functions of Node alone', async () => {
    const text = await (await http.fetch('/metrics')).text();
    expect(text).toContain('nodejs_active_resources_total');
    expect(text).not.toMatch(/nodejs_active_(handles|requests)/);
  });

  it('have names, types and units as Prometheus wants them', () => {
    const wrong = families.filter(({ name, type, help }) => {
      const isCounter = name.endsWith('_total');
      const hasOddUnit = /_(ms|milliseconds|minutes|hours|kb|mb|gb|kib|mib|gib|percent)(_|$)/.test(name);
      const isReserved = /_(count|sum|bucket)$/.test(name);
      return (
        !/^sandhaven_[a-z][a-z_]*[a-z]$/.test(name) ||
        isCounter !== (type === 'counter') ||
        hasOddUnit ||
        isReserved ||
        !/^\S.*\.$/.test(help)
      );
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
    expect(new Set(families.map(({ name }) => name)).size).toBe(families.length);
  });

  it('are all in the text, with type and help, and with the labels that they name', async () => {
    await http.call('Sandbox.RunCommand', { sandbox: 'a', command: 'true' });
    const { types, help, samples } = await scrape();
    for (const family of families) {
      expect(types.get(family.name)).toBe(family.type);
      expect(help.get(family.name)).toBe(family.help);
    }
    const own = samples.filter(({ name }) => name.startsWith('sandhaven_'));
    for (const { name, labels } of own) {
      const family = families.find((one) => name.replace(/_(bucket|sum|count)$/, '') === one.name);
      expect([family?.labels, name]).toEqual([Object.keys(labels).filter((label) => label !== 'le'), name]);
    }
  });

  it('have values of the figures, in seconds and bytes', async () => {
    const found = await scrape();
    const values: [string, Record<string, string>, number][] = [
      ['sandhaven_sandbox_creation_duration_seconds_count', { way: 'cold' }, 1],
      ['sandhaven_sandbox_creation_duration_seconds_sum', { way: 'cold' }, 1.5],
      ['sandhaven_sandbox_creation_duration_seconds_bucket', { way: 'cold', le: '1' }, 0],
      ['sandhaven_sandbox_creation_duration_seconds_bucket', { way: 'cold', le: '2.5' }, 1],
      ['sandhaven_sandbox_creation_duration_seconds_bucket', { way: 'warm', le: '0.05' }, 1],
      ['sandhaven_sandboxes', { state: 'started' }, 7],
      ['sandhaven_sandboxes', { state: 'archived' }, 0],
      ['sandhaven_sandboxes_paused', {}, 1],
      ['sandhaven_pool_wanted', {}, 2],
      ['sandhaven_operations_longest_wait_seconds', {}, 0.25],
      ['sandhaven_disk_promised_bytes', {}, 42_949_672_960],
      ['sandhaven_disk_size_bytes', {}, 100_000_000_000],
      ['sandhaven_slots_used', {}, 3],
      ['sandhaven_rate_refusals_total', {}, 6],
      ['sandhaven_event_loop_delay_seconds', {}, 0.012],
      ['sandhaven_worker_turn_age_seconds', { worker: 'reconciler' }, 60],
      ['sandhaven_store_connections', { use: 'active' }, 1],
      ['sandhaven_replicas', {}, 2],
      ['sandhaven_replica_leased', {}, 1],
      ['sandhaven_share_held', { share: 'requests' }, 1],
    ];
    expect(values.map(([name, labels]) => [name, labels, sampleValue(found, name, labels)])).toEqual(values);
    expect(sampleValue(found, 'sandhaven_audit_intact')).toBeUndefined();
  });

  it('count calls of every surface by outcome, once each', async () => {
    await http.call('Sandbox.CreateSandbox', { name: 'box' });
    await http.call('Sandbox_CreateSandbox', {});
    await http.call('Sandbox.GetSandbox', { sandbox: 'none' });
    await http.call('Sandbox.GetSandbox', { sandbox: 7 });
    const found = await scrape();
    const of = (tool: string, outcome: string) =>
      sampleValue(found, 'sandhaven_tool_calls_total', { tool, outcome });
    expect(of('Sandbox.CreateSandbox', 'ok')).toBe(2);
    expect(of('Sandbox.GetSandbox', 'ok')).toBe(0);
    expect(of('Sandbox.GetSandbox', 'not_found')).toBe(1);
    expect(of('Sandbox.GetSandbox', 'invalid_argument')).toBe(1);
    const tool = 'Sandbox.GetSandbox';
    expect(sampleValue(found, 'sandhaven_tool_call_duration_seconds_count', { tool })).toBe(2);
    expect(sampleValue(found, 'sandhaven_tool_call_duration_seconds_bucket', { tool, le: '+Inf' })).toBe(2);
  });

  it('get no series from names that callers make up', async () => {
    const before = (await scrape()).samples.length;
    for (const name of ['Sandbox.Nothing', '%22%7D%0Aevil%201', '__proto__', 'constructor', 'x'.repeat(900)])
      expect((await http.call(name, {})).status).toBeGreaterThanOrEqual(400);
    await http.call('Sandbox.CreateSandbox', { name: 'evil"} 1', labels: { 'a"b': '\n' } });
    await http.fetch('/v1/admin/Nothing', { method: 'POST' });
    await http.call('Sandbox.ListSandboxes', {}, { 'sandhaven-team': 'no\\team' });
    // A text of a moment ago is given again.
    await expect.poll(async () => (await scrape()).samples.length, { timeout: 10_000 }).not.toBe(before);
    const { samples } = await scrape();
    const names = new Set(
      samples
        .filter(({ name }) => name.startsWith('sandhaven_'))
        .flatMap(({ labels }) => Object.entries(labels))
        .filter(([label]) => label in words)
        .map(([label, value]) => `${label}=${value}`),
    );
    const allowed = Object.entries(words).flatMap(([label, values]) => values.map((v) => `${label}=${v}`));
    expect([...names].filter((one) => !allowed.includes(one))).toEqual([]);
    const tools = samples.filter(({ name }) => name === 'sandhaven_tool_calls_total');
    expect(
      tools.filter(({ labels }) => !/^(Sandbox|DocumentDb)\.[A-Za-z]+$/.test(labels['tool'] ?? '')),
    ).toEqual([]);
    expect(samples.some(({ labels }) => Object.values(labels).some((value) => value.includes('evil')))).toBe(
      false,
    );
  });
});
