/** The key of an agent on a network: programs in the sandbox find neither its file nor its memory. */
import { describe, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';

/** Those of a sandbox's programs. */
const CAPABILITIES = [
  ...['chown', 'dac_override', 'fowner', 'fsetid', 'kill', 'net_bind_service'],
  ...['setfcap', 'setgid', 'setpcap', 'setuid', 'sys_chroot'],
];
const keepThese = ['-all', ...CAPABILITIES.map((name) => `+${name}`)].join();

const asRootOfSandbox = (command: string) =>
  `setpriv --bounding-set=${keepThese} --inh-caps=-all sh -c '${command}'`;

const output = async (sandbox: ScratchSandbox, command: string) => {
  const { output } = await sandbox.sh(command);
  return output.trim();
};

describe.each(['copied', 'mounted'] as const)('a secret that was %s', (secret) => {
  it('is gone before anything runs', async () => {
    await using sandbox = await startScratchSandbox({ transport: 'tls', secret });
    expect(await output(sandbox, 'find /run/secret -type f -o -type l -name "*.*"')).not.toContain('tls.key');
    for (const name of ['tls.key', 'tls.crt', 'ca.crt', '..data/tls.key']) {
      expect(await output(sandbox, `cat /run/secret/${name}`)).toContain('No such file');
    }
    expect(await output(sandbox, 'grep -c /run/secret /proc/self/mountinfo')).toBe('0');
    expect(
      await output(sandbox, 'grep -rl "PRIVATE KEY" /run /tmp /workspace /etc /root | head -3'),
    ).not.toContain('tls');
    // The agent has it open nowhere either.
    expect(await output(sandbox, 'ls -l /proc/1/fd | grep -c secret')).toBe('0');
  });

  it('is not read from the memory, environment or descriptors of the agent by root', async () => {
    await using sandbox = await startScratchSandbox({ transport: 'tls', secret });
    const [descriptor] = (await output(sandbox, 'ls /proc/1/fd')).split('\n');
    for (const name of ['mem', 'environ', 'maps', 'auxv', `fd/${descriptor}`, 'map_files', 'root/run']) {
      const read = `ls -L /proc/1/${name} > /dev/null && cat /proc/1/${name} > /dev/null && echo READ || echo refused`;
      expect(await output(sandbox, asRootOfSandbox(read)), name).toMatch(/refused$/);
    }
  });
});

it('an agent that has unmounted its secret has given up mounting, for all that runs there', async () => {
  await using sandbox = await startScratchSandbox({ transport: 'tls', secret: 'mounted' });
  const all = await output(sandbox, 'grep -h ^Cap /proc/self/status');
  const sets = [...all.matchAll(/^(Cap\w+):\s*([0-9a-f]+)$/gm)];
  expect(sets).toHaveLength(5);
  const SYS_ADMIN = 21n;
  for (const [, name, bits] of sets) {
    expect([name, (BigInt(`0x${bits}`) >> SYS_ADMIN) & 1n]).toEqual([name, 0n]);
  }
  expect(await output(sandbox, 'mount -t tmpfs none /mnt && echo MOUNTED || true')).not.toContain('MOUNTED');
});

it('its own port is none of the sandbox', async () => {
  await using sandbox = await startScratchSandbox({ transport: 'tls' });
  await using other = await startScratchSandbox({ transport: 'socket' });
  const before = (await other.agent.ports(other.id)).map(({ port }) => port);
  expect(before).toContain(7_400);
  expect((await sandbox.agent.ports(sandbox.id)).filter(({ name }) => name === 'sandhaven-agent')).toEqual(
    [],
  );
});
