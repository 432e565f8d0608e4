/** Checks the addresses that `up` listens on, each by listening. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { DoctorFacts, ListenAddress } from '../../../control/ports/doctor-facts.ts';
import type { Check, Finding } from './check.ts';

interface Chosen {
  host: string;
  port: number;
  chosen: boolean;
}

/** Collects them from the options of `up`. */
export function listenAddresses(options: {
  listen: Pick<Chosen, 'host' | 'port'>;
  previewListen: Chosen;
  sshListen: Chosen;
}): ListenAddress[] {
  const gateway = (flag: string, { host, port, chosen }: Chosen): ListenAddress => ({
    ...{ flag, host, port },
    givesWay: !chosen,
  });
  return [
    { flag: '--listen', ...options.listen, givesWay: false },
    gateway('--preview-listen', options.previewListen),
    gateway('--ssh-listen', options.sshListen),
  ];
}

export function portChecks({ addresses, isServed }: DoctorFacts, dataDir: string): Check[] {
  return [{ name: 'ports', neededByUp: true, run: async () => ports(addresses, isServed(dataDir)) }];
}

/** @param served True when this data directory's service runs: then the addresses are its own. */
export async function ports(addresses: ListenAddress[], served: boolean): Promise<Finding> {
  const all = addresses.map(nameOf).join(', ');
  if (served) return { status: 'ok', found: `${all}: the service of this data directory runs` };
  const tried = await Promise.all(
    addresses.map(async (address) => ({ address, code: await tryListen(address) })),
  );
  const refused = tried.filter(({ code }) => code !== null);
  if (refused.length === 0) return { status: 'ok', found: `${all} free` };
  const fatal = refused.filter(({ address, code }) => code !== 'EADDRINUSE' || !address.givesWay);
  const shown = fatal.length > 0 ? fatal : refused;
  const found = shown.map(({ address, code }) => `${nameOf(address)} ${reasonOf(code)}`).join('; ');
  if (fatal.length === 0) {
    return { status: 'warn', found, advice: '`up` uses a free port instead; choose one to keep it.' };
  }
  const flags = shown.map(({ address }) => `${address.flag} (${variableOf(address.flag)})`).join(', ');
  return {
    status: 'fail',
    found,
    advice: `Stop the program that listens there, or give another address: ${flags}.`,
  };
}

/** Returns the error's code; null for a free address. */
async function tryListen({ host, port }: ListenAddress): Promise<string | null> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    server.close();
  }
}

function reasonOf(code: string | null): string {
  if (code === 'EADDRINUSE') return 'is taken by another program';
  if (code === 'EADDRNOTAVAIL') return 'is no address of this machine';
  return `cannot be bound (${code})`;
}

function nameOf({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function variableOf(flag: string): string {
  return `SANDHAVEN_${flag.replace(/^--/, '').toUpperCase().replaceAll('-', '_')}`;
}
