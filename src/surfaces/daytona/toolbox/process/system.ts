/** Version, size, use and ports of a sandbox. */
import { GiB } from '../../../../model/limits.ts';
import type { DaytonaCall, DaytonaRoute } from '../../base/call.ts';

/** Of the toolbox that the newest of the clients was made for. */
const SPOKEN_VERSION = '0.218.0';

export const systemRoutes: readonly DaytonaRoute[] = [
  { method: 'GET', path: '/version', handler: async () => ({ version: SPOKEN_VERSION }) },
  { method: 'GET', path: '/system/metrics', handler: metrics },
  { method: 'GET', path: '/port', handler: async (call) => ({ ports: await portsOf(call) }) },
  { method: 'GET', path: '/port/:port/in-use', handler: isInUse },
];

/** The load of the processors is not known at a look, and has no field then. */
async function metrics(call: DaytonaCall): Promise<unknown> {
  const { resources, usage } = await call.tool('Sandbox.GetSandbox', { sandbox: call.params['sandbox'] });
  const { cpu, memory, disk } = resources as Record<'cpu' | 'memory' | 'disk', number>;
  const used = usage as Record<'memory_bytes' | 'disk_bytes', number | null>;
  const now = new Date();
  return {
    ...{ cpuCount: cpu, memTotal: memory * GiB, diskTotal: disk * GiB },
    ...(used.memory_bytes === null ? {} : { memUsed: used.memory_bytes }),
    ...(used.disk_bytes === null
      ? {}
      : { diskUsed: used.disk_bytes, diskFree: disk * GiB - used.disk_bytes }),
    ...{ timestamp: now.toISOString(), timestampUnix: Math.floor(now.getTime() / 1_000) },
  };
}

async function isInUse(call: DaytonaCall): Promise<unknown> {
  return { isInUse: (await portsOf(call)).includes(Number(call.params['port'])) };
}

async function portsOf(call: DaytonaCall): Promise<number[]> {
  const { ports } = await call.tool('Sandbox.ListPorts', { sandbox: call.params['sandbox'] });
  return (ports as { port: number }[]).map(({ port }) => port);
}
