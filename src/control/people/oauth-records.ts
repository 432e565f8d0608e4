/** Records of the authorization server, for all replicas: clients, requests, codes and tokens. Secrets are kept as hashes. */
import { hash as digest } from 'node:crypto';
import { isSpent, type OAuthClient } from '../../model/access/oauth.ts';
import { newClientId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type {
  ArtifactKind,
  Clock,
  OAuthStore,
  ServiceSecretStore,
  StoredGrant,
  UserStore,
} from '../ports/index.ts';
import type { AuthorizedApps } from './authorized-apps.ts';

export interface OAuthRecordDependencies {
  store: OAuthStore;
  users: Pick<UserStore, 'findUser'>;
  secrets: ServiceSecretStore;
  apps: Pick<AuthorizedApps, 'end'>;
  clock: Clock;
}

export interface Issued {
  kind: ArtifactKind;
  secret: string;
  grantId: string | null;
  network: string | null;
  payload: string;
  expiresAt: number;
}

export interface Found {
  payload: string;
  grantId: string | null;
  isSpent: boolean;
}

export class OAuthRecords {
  readonly #deps: OAuthRecordDependencies;
  #prunedAt = 0;

  constructor(dependencies: OAuthRecordDependencies) {
    this.#deps = dependencies;
  }

  /** Registers a client, which is forgotten within a day unless somebody authorizes it. */
  async register(given: Pick<OAuthClient, 'name' | 'redirectUris' | 'network'>): Promise<OAuthClient> {
    const createdAt = this.#deps.clock.now();
    const expiresAt = createdAt + limits.oauth.unusedClientMs;
    const client = { id: newClientId(), ...given, createdAt, expiresAt };
    await this.#deps.store.addClient(client);
    return client;
  }

  findClient(id: string): Promise<OAuthClient | null> {
    return this.#deps.store.findClient(id, this.#deps.clock.now());
  }

  /** Keeps what was issued. Tokens keep their grant for as long as themselves. */
  async put({ secret, ...issued }: Issued): Promise<void> {
    const { store, clock } = this.#deps;
    await store.putArtifact({ ...issued, hash: hashOf(secret), createdAt: clock.now(), consumedAt: null });
    const isToken = issued.kind === 'access' || issued.kind === 'refresh';
    if (isToken && issued.grantId !== null) await store.extendGrant(issued.grantId, issued.expiresAt);
    if (clock.now() - this.#prunedAt >= limits.oauth.pruneMs) await this.prune();
  }

  async find(kind: ArtifactKind, secret: string): Promise<Found | null> {
    const found = await this.#deps.store.findArtifact(kind, hashOf(secret));
    if (found === null) return null;
    const { payload, grantId, consumedAt } = found;
    return { payload, grantId, isSpent: isSpent(kind, consumedAt, this.#deps.clock.now()) };
  }

  /** Returns false for one that is spent or gone: somebody has a copy, so its grant ends. */
  async consume(kind: ArtifactKind, secret: string): Promise<boolean> {
    const { store, apps, clock } = this.#deps;
    if (await store.consumeArtifact(kind, hashOf(secret), clock.now())) return true;
    const used = await this.find(kind, secret);
    if (used && !used.isSpent) return true;
    if (used?.grantId) await apps.end(used.grantId);
    return false;
  }

  remove(kind: ArtifactKind, secret: string): Promise<void> {
    return this.#deps.store.removeArtifact(kind, hashOf(secret));
  }

  findGrant(id: string): Promise<StoredGrant | null> {
    return this.#deps.store.findGrant(id, this.#deps.clock.now());
  }

  async endGrant(id: string): Promise<void> {
    await this.#deps.apps.end(id);
  }

  async isEnabled(userId: string): Promise<boolean> {
    const user = await this.#deps.users.findUser(userId);
    return user !== null && user.id === userId && user.disabledAt === null;
  }

  /** Returns a secret of the service that all replicas have. */
  secret(name: string, make: () => string): Promise<string> {
    return this.#deps.secrets.getOrCreate(name, make);
  }

  /** Removes what is over. */
  prune(): Promise<void> {
    this.#prunedAt = this.#deps.clock.now();
    return this.#deps.store.pruneOAuth(this.#deps.clock.now());
  }
}

function hashOf(secret: string): Buffer {
  return digest('sha256', secret, 'buffer');
}
