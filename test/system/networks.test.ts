/** Networks of real sandboxes: the resolver inside shows which policy is in force. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mustAct } from '../support/people.ts';
import { must, type Service, startService } from '../support/service.ts';

const SIZE = { cpu: 1, memory_gb: 1, disk_gb: 1 };
const RULES = { allow: ['https://allowed.test'] };

let service: Service;

beforeAll(async () => {
  service = await startService({ flags: ['--warm-pool', '1'] });
}, 120_000);

afterAll(() => service?.stop());

/**
 * Asks the resolver for the IPv6 address of a name, which nobody has to be asked for. Returns the code of the answer: 0 for a
 * name that is allowed, 3 for one that is not, null without an answer.
 */
async function codeFor(sandbox: string, name: string): Promise<number | null> {
  const { output } = await must(service, 'RunCommand', {
    sandbox,
    command: `python3 -c '${question}' ${name}`,
    timeout_seconds: 20,
  });
  return JSON.parse(String(output));
}

const question = `
import re, socket, sys
resolver = re.search(r"nameserver (\\S+)", open("/etc/resolv.conf").read())[1]
labels = b"".join(bytes([len(label)]) + label.encode() for label in sys.argv[1].split("."))
asker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asker.settimeout(2)
try:
    asker.connect((resolver, 53))
    asker.send(bytes([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]) + labels + bytes([0, 0, 28, 0, 1]))
    print(asker.recv(2000)[3] & 15)
except OSError:
    print("null")
`;

/** Egress programs of this service: children of it, by whatever way. */
function egressPrograms(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const isProgram = readlinkSync(`/proc/${pid}/exe`).endsWith('/sandhaven-egress');
        return isProgram && parentOf(pid) === service.pid;
      } catch {
        return false;
      }
    });
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

describe('the network of a sandbox', () => {
  it('is open, from the warm pool and made anew, and needs no egress program', async () => {
    await must(service, 'CreateSandbox', { name: 'pooled' });
    await must(service, 'CreateSandbox', { name: 'cold', ...SIZE });
    for (const name of ['pooled', 'cold']) expect(await codeFor(name, 'any.test')).toBe(0);
    expect(egressPrograms()).toEqual([]);
  });

  it('that is none has no resolver', async () => {
    await must(service, 'CreateSandbox', { name: 'closed', network: 'none', ...SIZE });
    expect(await codeFor('closed', 'any.test')).toBeNull();
  });

  it('with rules has the names that they allow, from the pool and made anew', async () => {
    await must(service, 'CreateSandbox', { name: 'ruled', network: RULES, ...SIZE });
    await must(service, 'CreateSandbox', { name: 'claimed', network: RULES });
    for (const name of ['ruled', 'claimed']) {
      expect(await codeFor(name, 'allowed.test')).toBe(0);
      expect(await codeFor(name, 'other.test')).toBe(3);
    }
    const [program] = egressPrograms();
    expect(egressPrograms()).toEqual([program]);
    // The next start of the service would end it there, had it outlived this one.
    expect(readFileSync(`/proc/${program}/cgroup`, 'utf8')).toContain(`/sandhaven-${instance()}-helpers/`);
  });

  it('with rules logs what is refused: names, and packets', async () => {
    const send = `python3 -c 'import socket; socket.socket(2, 2).sendto(b"x", ("203.0.113.1", 443))'`;
    await must(service, 'RunCommand', { sandbox: 'ruled', command: send });
    const log = async () =>
      (await mustAct(service, 'GetNetworkLog', { sandbox: 'ruled', refused: true }))['events'];
    const refused = (event: object) => expect.objectContaining({ ...event, allowed: false, rule: null });
    await expect.poll(log).toContainEqual(refused({ kind: 'dns', name: 'other.test' }));
    await expect.poll(log).toContainEqual(refused({ kind: 'udp', address: '203.0.113.1', port: 443 }));
  });

  it('changes while it runs, and stays over a stop and a start', async () => {
    await mustAct(service, 'SetNetwork', { sandbox: 'cold', network: RULES });
    expect(await codeFor('cold', 'other.test')).toBe(3);
    await must(service, 'StopSandbox', { sandbox: 'cold' });
    await must(service, 'StartSandbox', { sandbox: 'cold' });
    expect(await codeFor('cold', 'other.test')).toBe(3);
    await mustAct(service, 'SetNetwork', { sandbox: 'cold', network: 'none' });
    expect(await codeFor('cold', 'allowed.test')).toBeNull();
    await mustAct(service, 'SetNetwork', { sandbox: 'cold', network: 'open' });
    expect(await codeFor('cold', 'other.test')).toBe(0);
  });

  it('is in force again after kill -9 of the service, also where the sandbox learned', async () => {
    await mustAct(service, 'LearnNetwork', { sandbox: 'claimed' });
    expect(await codeFor('claimed', 'other.test')).toBe(0);
    await service.kill();
    expect(egressPrograms()).toEqual([]);
    await service.restart();
    expect(await codeFor('pooled', 'any.test')).toBe(0);
    expect(await codeFor('closed', 'any.test')).toBeNull();
    expect(await codeFor('ruled', 'allowed.test')).toBe(0);
    for (const name of ['ruled', 'claimed']) expect(await codeFor(name, 'other.test')).toBe(3);
  });

  it("is refused while the traffic of its owner's day is used up, with the reason, and comes back", async () => {
    const used = (gb: number) =>
      mustAct(service, 'UpdateUser', { user: 'admin@localhost', quota_traffic_gb: gb });
    await used(0);
    await expect.poll(() => codeFor('pooled', 'any.test'), { timeout: 20_000 }).toBeNull();
    await expect
      .poll(async () => (await mustAct(service, 'GetNetwork', { sandbox: 'pooled' }))['traffic'])
      .toMatchObject({ used_up: 'owner', owner: { gb_per_day: 0 }, limits: { connections_per_second: 200 } });
    const seen = JSON.stringify(await must(service, 'GetSandbox', { sandbox: 'pooled' }));
    expect(seen).toContain("Its owner has used up today's network traffic");
    await used(-1);
    await expect.poll(() => codeFor('pooled', 'any.test'), { timeout: 20_000 }).toBe(0);
  });

  it("keeps within its owner's ceiling, whatever root inside and its owner ask for, from the change on", async () => {
    const user = 'admin@localhost';
    const names = async (sandbox: string) =>
      [await codeFor(sandbox, 'allowed.test'), await codeFor(sandbox, 'other.test')].join(' ');
    expect(await names('pooled')).toBe('0 0');
    expect(await mustAct(service, 'SetUserNetwork', { user, most_network: RULES })).toMatchObject({
      in_force: { mode: 'rules', rules: ['https://allowed.test'] },
    });
    expect(await names('pooled')).toBe('0 3');
    const send = `import socket; socket.socket(2, 2).sendto(b"x", ("203.0.113.9", 53))`;
    const command = `id -u; echo nameserver 203.0.113.9 > /etc/resolv.conf; python3 -c '${send}'`;
    const { output } = await must(service, 'RunCommand', { sandbox: 'ruled', command });
    expect(String(output).trim()).toBe('0');
    await expect
      .poll(
        async () => (await mustAct(service, 'GetNetworkLog', { sandbox: 'ruled', refused: true }))['events'],
      )
      .toContainEqual(
        expect.objectContaining({ kind: 'udp', address: '203.0.113.9', port: 53, allowed: false }),
      );
    await mustAct(service, 'SetNetwork', { sandbox: 'pooled', network: 'open' });
    expect(await names('pooled')).toBe('0 3');
    await mustAct(service, 'LearnNetwork', { sandbox: 'pooled' });
    expect(await names('pooled')).toBe('0 3');
    await must(service, 'CreateSandbox', { name: 'later', ...SIZE });
    expect(await names('later')).toBe('0 3');
    await service.kill();
    await service.restart();
    expect(await names('pooled')).toBe('0 3');
    await mustAct(service, 'SetUserNetwork', { user, most_network: 'none' });
    expect(await codeFor('later', 'allowed.test')).toBeNull();
    await mustAct(service, 'SetUserNetwork', { user, most_network: 'default' });
    for (const sandbox of ['pooled', 'later']) expect(await names(sandbox)).toBe('0 0');
  });

  it('leaves nothing in the table when the sandbox is deleted', async () => {
    for (const sandbox of ['pooled', 'cold', 'closed', 'ruled', 'claimed', 'later']) {
      await must(service, 'DeleteSandbox', { sandbox });
    }
    const table = () =>
      execFileSync('nft', ['list', 'set', 'inet', `sandhaven_${instance()}`, 'ruled']).toString();
    await expect.poll(table).not.toContain('elements');
  });
});

function instance(): string {
  return readFileSync(`${service.dataDir}/instance`, 'utf8').trim();
}
