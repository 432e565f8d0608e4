/** One machine of each runtime on cgroup v2: started directly, as the service chooses, then by runc. */
import { readFileSync } from 'node:fs';
import { arch } from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import { createPrograms } from '../../isolation/programs.ts';
import { describeSameMachine, type Runtime, type Seen } from '../../isolation/runtimes/compared.ts';
import { must } from '../../support/service.ts';
import { DATA_DIR, type Installed } from './installed.ts';

const TIMEOUT_SECONDS = 300;
/** In memory, which the next boot does not have. */
const DROP_INS = '/run/systemd/system/sandhaven.service.d';
const NODE = `/srv/checkout/node_modules/node-linux-${arch()}/bin/node`;
const attempts = readFileSync(
  new URL('../../isolation/programs/device-attempts.py', import.meta.url),
  'utf8',
);

/** @param on The machine, once it is there; its service uses runc afterwards, until the next boot. */
export function describeBothRuntimes(
  on: () => Pick<Installed, 'machine' | 'service' | 'sandhaven' | 'ready'>,
): void {
  const tool = (name: string, parameters: Record<string, unknown>) => must(on().service, name, parameters);
  const seen: Partial<Record<Runtime, Seen>> = {};
  const state: Partial<Record<Runtime, string>> = {};

  /** In a sandbox of its own. */
  async function look(runtime: Runtime): Promise<void> {
    const { machine, service } = on();
    const id = String(
      (await tool('CreateSandbox', { name: runtime, cpu: 1, memory_gb: 1, disk_gb: 1 }))['id'],
    );
    const inside = await createPrograms(service, TIMEOUT_SECONDS).inside(runtime, 'machine-view');
    const module = '/srv/checkout/test/isolation/runtimes/machine-on-host.ts';
    const code = `import { deviceGroupOf, machineOf } from '${module}';
      const [group, outside] = [deviceGroupOf, machineOf].map((of) => of('${DATA_DIR}', '${id}'));
      console.log(JSON.stringify({ group, outside }));`;
    const { group, outside } = JSON.parse(await machine.must(`${NODE} --input-type=module`, { input: code }));
    const devices = JSON.parse(await machine.must(`python3 - ${group}`, { input: attempts }));
    seen[runtime] = { inside: JSON.parse(inside), outside, devices };
    state[runtime] = await machine.must(`ls /run/sandhaven-*/runc/${id}`);
    await tool('DeleteSandbox', { sandbox: runtime });
  }

  describe('with either runtime', () => {
    beforeAll(async () => {
      const { machine, ready } = on();
      await look('direct');
      const setting = '[Service]\\nEnvironment=SANDHAVEN_MACHINE_RUNTIME=runc\\n';
      await machine.must(`mkdir -p ${DROP_INS} && printf '${setting}' > ${DROP_INS}/runtime.conf`);
      await machine.must('systemctl daemon-reload && systemctl restart sandhaven');
      await ready();
      await look('runc');
    });

    it('machines are started directly unless the operator wants runc', async () => {
      expect(state).toEqual({ direct: 'machine.json\n', runc: 'state.json\n' });
      const { checks } = JSON.parse(await on().sandhaven('doctor --json'));
      expect(checks).toContainEqual(
        expect.objectContaining({
          name: 'machine runtime',
          status: 'ok',
          found: 'direct: the quickest here',
        }),
      );
    });

    it('the machine’s own group is the root of what it sees, read-only, with all controllers of the host', async () => {
      const mounts = seen.direct?.inside['mounts'] as string[];
      expect(mounts.filter((line) => line.includes(' /sys/fs'))).toEqual([
        expect.stringMatching(/^\/ \/sys\/fs ro,nosuid,nodev,noexec,relatime - tmpfs tmpfs /),
        expect.stringMatching(/^\/ \/sys\/fs\/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup2 /),
      ]);
      const values = seen.direct?.inside['cgroup values'] as Record<string, string>;
      const value = (name: string) => values[`/sys/fs/cgroup/${name}`]?.trim();
      const limits = ['memory.max', 'memory.swap.max', 'memory.oom.group', 'cpu.max', 'pids.max'];
      expect(limits.map(value)).toEqual(['1073741824', '0', '0', '100000 100000', '1024']);
      const controllers = (await on().machine.must('cat /sys/fs/cgroup/cgroup.controllers')).trim();
      expect(value('cgroup.controllers')).toBe(controllers);
    });

    describeSameMachine(() => seen as Record<Runtime, Seen>);
  });
}
