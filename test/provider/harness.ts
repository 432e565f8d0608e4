/** The service's side of a provider, over a real store and a server that speaks the provider's endpoints. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { CodeHost, GitPurpose, Log, Store } from '../../src/control/ports/index.ts';
import { AuthorizationService } from '../../src/control/provider/authorizations.ts';
import type { AuthorizationUses } from '../../src/control/provider/device-polls.ts';
import { ProviderRemotes } from '../../src/control/provider/remotes.ts';
import { UserTokens } from '../../src/control/provider/tokens.ts';
import { parseGitUrl } from '../../src/model/git/url.ts';
import type { User } from '../../src/model/user.ts';
import { createGitHub } from '../../src/provider/github.ts';
import { secretsOf } from '../../src/store/files/secrets.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { alice, bob, temporaryDirectory } from '../store/fixtures.ts';
import {
  type CodeHostServer,
  clientId,
  clientSecret,
  startCodeHost,
} from '../support/code-host/code-host.ts';

export const readOnly: GitPurpose = { service: 'git-upload-pack' };
export const push: GitPurpose = { service: 'git-receive-pack', ref: 'refs/heads/main' };
export const secrets = secretsOf(Buffer.alloc(32, 3));
export const CALLBACK = 'http://127.0.0.1:7420';

export interface Harness {
  server: CodeHostServer;
  store: Store;
  host: CodeHost;
  authorizations: AuthorizationService;
  tokens: UserTokens;
  remotes: ProviderRemotes;
  /** What a second replica has, or the same one after a restart; with another provider where a URL is given. */
  beside(url?: string): Promise<AuthorizationService>;
  /** The tokens of a second replica, and its store. */
  tokensBeside(): Promise<{ tokens: UserTokens; store: Store }>;
  /** Users whose authorizations have changed, in order, each time that the uses of authorizations hear of it. */
  changes: string[];
  /** What was logged, as text. */
  log(): string;
  /** Lets time go by, for the service and for the provider. */
  pass(ms: number): void;
  /** The user allows it as this account, by browser. */
  authorize(user: User, login: string): Promise<void>;
  /** What opens a remote, or the error that refuses it; `explain` is what a refusing remote would mean. */
  entry(user: User, url: string, purpose?: GitPurpose): ReturnType<ProviderRemotes['access']>;
}

/** @param open Opens the store of the harness; the same one each time. */
export async function startHarness(
  mode: 'oauth' | 'app' = 'oauth',
  open: () => Promise<Store> = inOneFile(),
): Promise<Harness> {
  let now = 1_800_000_000_000;
  const clock = { now: () => now };
  const server = await startCodeHost({ mode, now: clock.now });
  const stores: Store[] = [];
  onTestFinished(async () => {
    for (const each of stores) await each.close();
    await server.close();
  });
  const lines: unknown[] = [];
  const write = (...line: unknown[]) => void lines.push(line);
  const log: Log = { info: write, warn: write, error: write };
  const { id, slug } = server.state.app;
  const app = mode === 'app' ? { id, slug, privateKeyPem: server.privateKeyPem } : null;
  const changes: string[] = [];
  const uses: AuthorizationUses = {
    changed: (userId) => void changes.push(userId),
    ended: async (userId) => void changes.push(userId),
  };
  const beside = async (url: string = server.url) => {
    const store = await open();
    stores.push(store);
    const { apiUrl } = server;
    const host = createGitHub({ url, apiUrl, clientId, clientSecret, app }, clock);
    const parts = { host, store: store.authorizations, uses, clock, log };
    const authorizations = new AuthorizationService({ ...parts, pending: store.pendingAuthorizations });
    authorizations.servedAt(CALLBACK);
    return { store, host, authorizations, tokens: new UserTokens({ ...parts, replicas: store.replicas }) };
  };
  const { store, host, authorizations, tokens } = await beside();
  await store.users.insertUser(alice);
  await store.users.insertUser(bob);
  const remotes = new ProviderRemotes(authorizations, tokens);
  return {
    server,
    store,
    host,
    authorizations,
    tokens,
    remotes,
    changes,
    beside: async (url) => (await beside(url)).authorizations,
    tokensBeside: () => beside(),
    log: () => JSON.stringify(lines),
    pass(ms) {
      now += ms;
    },
    async authorize(user, login) {
      const { url } = await authorizations.startBrowser(user);
      const { state, code } = returned(await server.authorize(url, login));
      const done = await authorizations.complete(state, code);
      if (done?.outcome.status !== 'authorized') throw new Error(`not authorized: ${JSON.stringify(done)}`);
    },
    entry: (user, address, purpose = readOnly) => remotes.access(user, parseGitUrl(address), purpose),
  };
}

function inOneFile(): () => Promise<Store> {
  const file = join(temporaryDirectory(), 'sandhaven.db');
  return () => openSqliteStore({ file, secrets });
}

/** What the browser was sent back with. */
export function returned(location: string): { state: string; code: string; error: string | null } {
  const { searchParams } = new URL(location);
  const text = (name: string) => searchParams.get(name) ?? '';
  return { state: text('state'), code: text('code'), error: searchParams.get('error') };
}
