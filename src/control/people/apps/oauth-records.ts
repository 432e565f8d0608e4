/** Records of the authorization server, for all replicas: clients, requests, codes and tokens. Secrets are kept as hashes. */
import { hash as digest } from 'node:crypto';
import type { OAuthClient } from '../../../model/access/oauth/grant.ts';
import { newClientId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type {
  Artifact,
  ArtifactKind,
  Clock,
  OAuthStore,
  ServiceSecretStore,
  StoredGrant,
  UserStore,
} from '../../ports/index.ts';
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

export class OAuthRecords {
  readonly #d: OAuthRecordDependencies;
  #prunedAt = 0;

  constructor(dependencies: OAuthRecordDependencies) {
    this.#d = dependencies;
  }

  /** Registers a client, which is forgotten within a day unless somebody authorizes it. */
  async register(given: Pick<OAuthClient, 'name' | 'redirectUris' | 'network'>): Promise<OAuthClient> {
    const createdAt = this.#d.clock.now();
    const expiresAt = createdAt + limits.oauth.unusedClientMs;
    const client = { id: newClientId(), ...given, createdAt, expiresAt };
    await this.#d.store.addClient(client);
    return client;
  }

  findClient(id: string): Promise<OAuthClient | null> {
    return this.#d.store.findClient(id, this.#d.clock.now());
  }

  /** Keeps what was issued. A refresh token keeps its grant for as long as itself. */
  async put({ secret, ...issued }: Issued): Promise<void> {
    const { store, clock } = this.#d;
    await store.putArtifact({ ...issued, hash: hashOf(secret), createdAt: clock.now(), consumedAt: null });
    if (issued.kind === 'refresh' && issued.grantId !== null)
      await store.extendGrant(issued.grantId, issued.expiresAt);
    if (clock.now() - this.#prunedAt >= limits.oauth.pruneMs) await this.prune();
  }

  find(kind: ArtifactKind, secret: string): Promise<Artifact | null> {
    return this.#d.store.findArtifact(kind, hashOf(secret));
  }

  /** Returns false for one that was used before: somebody has a copy, so its grant ends. */
  async consume(kind: ArtifactKind, secret: string): Promise<boolean> {
    const { store, apps, clock } = this.#d;
    if (await store.consumeArtifact(kind, hashOf(secret), clock.now())) return true;
    const used = await this.find(kind, secret);
    if (used?.grantId) await apps.end(used.grantId);
    return false;
  }

  remove(kind: ArtifactKind, secret: string): Promise<void> {
    return this.#d.store.removeArtifact(kind, hashOf(secret));
  }

  findGrant(id: string): Promise<StoredGrant | null> {
    return this.#d.store.findGrant(id, this.#d.clock.now());
  }

  async endGrant(id: string): Promise<void> {
    await this.#d.apps.end(id);
  }

  async isEnabled(userId: string): Promise<boolean> {
    const user = await this.#d.users.findUser(userId);
    return user !== null && user.id === userId && user.disabledAt === null;
  }

  /** Returns a secret of the service that all replicas have. */
  secret(name: string, make: () => string): Promise<string> {
    return this.#d.secrets.getOrCreate(name, make);
  }

  /** Removes what is over. */
  prune(): Promise<void> {
    this.#prunedAt = this.#d.clock.now();
    return this.#d.store.pruneOAuth(this.#d.clock.now());
  }
}

function hashOf(secret: string): Buffer {
  return digest('sha256', secret, 'buffer');
}
