/** The egress program with secrets of sandboxes, real clients inside and real servers outside. */
import { readFileSync } from 'node:fs';
import { type Driven, drive } from '../../support/drive.ts';
import {
  createInternet,
  type EgressEvent,
  type Internet,
  neighbour,
  sandbox,
} from '../../support/harness.ts';
import { compileRule } from '../../support/rules.ts';
import { makeAuthority, type SandboxAuthority } from './authority.ts';
import { makeRoots, type Roots } from './certificates.ts';
import type { Asked, Got, To } from './clients.ts';

export const api = '203.0.113.10';
/** Of a server that speaks HTTP/2 and HTTP/1.1. */
export const port = 9443;
export const value = 'sk-live-0123456789abcdef';
export const placeholder = `sandhaven-secret-${'0123456789abcdef'.repeat(2)}`;
export const otherPlaceholder = `sandhaven-secret-${'fedcba9876543210'.repeat(2)}`;

export const bearer = { in: 'header', name: 'authorization', format: 'Bearer {secret}' };

export interface Client {
  ask(asked?: Asked): Promise<Got>;
  /** What an echo server got. */
  echo(asked?: Asked): Promise<Echo>;
  close(): Promise<void>;
}

export interface Echo {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface Opened extends Internet {
  roots: Roots;
  authorities: Record<string, SandboxAuthority>;
  clients: Driven;
  servers: Driven;
  /** Puts rules and secrets of a sandbox in force. */
  give(secrets: object[], more?: { rules?: string[]; open?: boolean; of?: string }): Promise<void>;
  to(more?: Partial<To>): To;
  client(protocol: 'h1' | 'h2', more?: Partial<To>): Promise<Client>;
  raw(bytes: string, more?: object): Promise<{ text: string; ended: string }>;
  /** Requests that servers got since the last call. */
  requests(): Promise<{ method: string; url: string; headers: Record<string, string> }[]>;
  events(kind: string): EgressEvent[];
  /** Kilobytes of memory of the program. */
  memory(): number;
}

export const secret = (more: object = {}): object => ({
  secret: 'se_1',
  name: 'API_KEY',
  placeholder,
  value,
  targets: [{ host: 'api.test', port, methods: [], path: null }],
  place: bearer,
  expiresAt: null,
  ...more,
});

export async function createOpened(): Promise<Opened> {
  const roots = makeRoots();
  const net = await createInternet({ SSL_CERT_FILE: roots.bundleFile });
  const [clients, servers] = [
    drive(net.namespaces.inside, '../secrets/support/clients.ts'),
    drive(net.namespaces.outside, '../secrets/support/servers.ts'),
  ];
  const authorities = Object.fromEntries(
    [sandbox, neighbour].map((address) => [address, makeAuthority(`sb_${address}`)]),
  );
  await net.zone('api.test', { addresses: [api] });
  await servers.call('web', { port, ...roots.sign(['api.test', '*.suffix.test', 'other.test']) });
  const to = (more: Partial<To> = {}): To => {
    const from = more.from ?? sandbox;
    const ca = authorities[from]?.pem ?? '';
    return { from, to: api, port, servername: 'api.test', ca, ...more };
  };
  return {
    ...net,
    ...{ roots, authorities, clients, servers, to },
    async give(secrets, { rules = [`https://api.test:${port}`], open = false, of = sandbox } = {}) {
      const authority = authorities[of]?.given;
      const given = { address: of, sandbox: `sb_${of}`, owner: 'us_1', open, secrets, authority };
      await net.program.command({ set: { ...given, rules: rules.map(compileRule) } });
      if (!open) await net.resolve('api.test', of);
    },
    client: (protocol, more) => createClient(clients, protocol, to(more)),
    raw: (bytes, more = {}) => clients.call('raw', { ...to(), ...more, bytes }),
    requests: () => servers.call('seen'),
    events: (kind) => net.program.events.filter((event) => event.kind === kind),
    memory: () => memoryOf(net.program.child.pid),
    async [Symbol.asyncDispose]() {
      await Promise.all([clients.end(), servers.end()]);
      await net[Symbol.asyncDispose]();
      roots.remove();
    },
  };
}

async function createClient(clients: Driven, protocol: 'h1' | 'h2', to: To): Promise<Client> {
  const id = await clients.call<number>('open', { protocol, ...to });
  const ask = (asked: Asked = {}) => clients.call<Got>('ask', { id, asked });
  return {
    ask,
    echo: async (asked) => JSON.parse((await ask(asked)).body),
    close: () => clients.call('close', { id }),
  };
}

function memoryOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
}
