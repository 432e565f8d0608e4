/** A real Prometheus scrapes a real service, and answers every query of the dashboard and of the alerts. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promtoolProgram } from '../../setup/debian/prometheus-program.ts';
import { call, must, post, type Service, startService } from '../support/service.ts';
import { queries } from './dashboard.ts';
import { deploy, type Prometheus, startPrometheus } from './prometheus-process.ts';

let service: Service;
let prometheus: Prometheus;

/** Metrics that this service does not have, each with the reason. */
const absent: Record<string, string> = {
  sandhaven_store_connections: 'its store is a file, not a server',
  sandhaven_store_connections_max: 'its store is a file, not a server',
  sandhaven_store_waiting: 'its store is a file, not a server',
  sandhaven_replicas: 'it is alone',
  sandhaven_replica_leased: 'it is alone',
};

beforeAll(async () => {
  service = await startService();
  const made = await post(service, '/v1/admin/CreateKey', { name: 'Prometheus', scopes: ['admin'] });
  prometheus = await startPrometheus(new URL(service.url).host, String(made.body['api_key']));
});

afterAll(async () => {
  await prometheus?.stop();
  await service?.stop();
});

/** Something of everything that the dashboard shows. */
async function work(): Promise<void> {
  await must(service, 'ListSandboxes');
  await call(service, 'GetSandbox', { sandbox: 'none' });
  await post(service, '/v1/admin/ListKeys', {});
}

describe('Prometheus', () => {
  it('accepts the example of its configuration, and the rules', () => {
    expect(promtool(['check', 'config', prometheus.configFile])).toContain('SUCCESS');
    expect(promtool(['check', 'rules', join(deploy, 'rules.yml')])).toContain('9 rules found');
  });

  it('finds no fault in the names of the metrics', async () => {
    const answer = await fetch(`${service.url}/metrics`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    const own = (await answer.text()).split('\n').filter((line) => /^(# \w+ )?sandhaven_/.test(line));
    expect(promtool(['check', 'metrics'], `${own.join('\n')}\n`)).toBe('');
  });

  it('scrapes the service by the key of an admin', async () => {
    await expect
      .poll(targets, { timeout: 60_000 })
      .toMatchObject([{ health: 'up', lastError: '', labels: { job: 'sandhaven' } }]);
  });

  it('answers every query of the dashboard with data, but for what this service does not have', async () => {
    await must(service, 'CreateSandbox', { name: 'measured' });
    await must(service, 'RunCommand', { sandbox: 'measured', command: 'true' });
    await post(service, '/v1/admin/VerifyAudit', {});
    const empty = async () => {
      await work();
      const answers = await Promise.all(
        queries.map(async ({ expression }) => ({ expression, found: await prometheus.query(expression) })),
      );
      return answers.filter(({ found }) => found.length === 0).map(({ expression }) => expression);
    };
    const expected = queries.map(({ expression }) => expression).filter((one) => namesIn(one).some(isAbsent));
    await expect.poll(empty, { timeout: 90_000, interval: 1_000 }).toEqual(expected);
    expect(expected).toHaveLength(5);
  }, 120_000);

  it('can evaluate every alert, and knows every metric in it', async () => {
    const rules = await expect
      .poll(alerts, { timeout: 30_000 })
      .toSatisfy((found: Alert[]) => found.length === 9 && found.every(({ health }) => health !== 'unknown'))
      .then(alerts);
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    const names = [...new Set(rules.flatMap(({ query }) => namesIn(query)))].filter((one) => !isAbsent(one));
    const known = await Promise.all(names.map(async (name) => (await prometheus.query(name)).length > 0));
    expect(names.filter((_name, at) => !known[at])).toEqual([]);
    expect(names).toHaveLength(11);
  });
});

interface Alert {
  name: string;
  query: string;
  health: string;
}

async function targets(): Promise<unknown> {
  return (await prometheus.get<{ activeTargets: unknown }>('targets')).activeTargets;
}

async function alerts(): Promise<Alert[]> {
  const { groups } = await prometheus.get<{ groups: { rules: Alert[] }[] }>('rules');
  return groups.flatMap(({ rules }) => rules);
}

function isAbsent(name: string): boolean {
  return name in absent;
}

function namesIn(query: string): string[] {
  return [...query.matchAll(/\b(?:sandhaven|process|nodejs)_[a-z_]+\b|\bup\b/g)].map(([name]) => name);
}

function promtool(args: string[], input = ''): string {
  return execFileSync(promtoolProgram, args, { encoding: 'utf8', input, stdio: 'pipe' });
}
