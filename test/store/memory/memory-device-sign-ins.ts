/** Sign-ins of machines in memory. */
import type { Store } from '../../../src/control/ports/index.ts';
import type { DeviceAnswer, DeviceGrant, DeviceSignIn } from '../../../src/model/access/ways-in.ts';
import { limits } from '../../../src/model/limits.ts';

interface Entry {
  hash: string;
  network: string;
  signIn: DeviceSignIn;
  /** undefined: waits; null: denied. */
  grant?: DeviceGrant | null;
}

/** The oldest one of the network that has most. */
function displaced(entries: Entry[]): Entry | undefined {
  const counts = new Map<string, number>();
  for (const { network } of entries) counts.set(network, (counts.get(network) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return entries.find(({ network }) => counts.get(network) === most);
}

export function memoryDeviceSignIns(): Pick<Store, 'deviceSignIns'> {
  let entries: Entry[] = [];
  const waiting = (userCode: string, now: number) =>
    entries.find(
      ({ signIn, grant }) => signIn.userCode === userCode && grant === undefined && signIn.expiresAt > now,
    );
  return {
    deviceSignIns: {
      async addDeviceSignIn(hash, signIn, network) {
        entries = entries.filter((one) => one.signIn.expiresAt > signIn.createdAt);
        const own = entries.filter((one) => one.network === network);
        const { perNetwork, atOnce } = limits.deviceSignIn;
        if (own.length >= perNetwork) return false;
        if (entries.length >= atOnce) entries = entries.filter((one) => one !== displaced(entries));
        entries.push({ hash: hash.toString('hex'), network, signIn });
        return true;
      },
      findDeviceSignIn: async (userCode, now) => waiting(userCode, now)?.signIn ?? null,
      async decideDeviceSignIn(userCode, grant, now) {
        const entry = waiting(userCode, now);
        if (entry) entry.grant = grant;
        return entry !== undefined;
      },
      async takeDeviceAnswer(hash, now): Promise<DeviceAnswer> {
        const entry = entries.find((one) => one.hash === hash.toString('hex'));
        if (!entry || entry.signIn.expiresAt <= now) return { status: 'over' };
        if (entry.grant === undefined) return { status: 'pending' };
        entries = entries.filter((one) => one !== entry);
        if (entry.grant === null) return { status: 'denied' };
        return { status: 'approved', machine: entry.signIn.machine, grant: entry.grant };
      },
    },
  };
}
