/**
 * Tokens of one sandbox: their holder works inside it and opens its previews, and nothing else. A token is signed, and no row
 * has it. It ends at its expiry, with the sandbox, when tokens of the sandbox are revoked, and when its owner changes, may no
 * longer own, or is disabled. All that is done by it counts to the owner.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { at } from '../../concurrency/deadline.ts';
import { isTeamId, randomText } from '../../model/ids.ts';
import { readSandboxToken, type SandboxToken, writeSandboxToken } from '../../model/sandbox-access.ts';
import { type Caller, ownerIdOf } from '../../model/user.ts';
import type { CallerRights } from '../callers/caller-rights.ts';
import type { TokenHolders } from '../callers/identity.ts';
import type { Clock, SandboxStore, TeamStore, UserStore } from '../ports/index.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import { type AccessService, textOf } from './tokens.ts';

const MINUTE_MS = 60_000;
const ID_CHARS = 16;
/** Of the token that a sandbox has for as long as it is there. */
const STANDING = { nonce: '0', expiresAt: null };

export interface SandboxTokensDependencies {
  access: Pick<AccessService, 'sandboxSignature' | 'tokenEpoch' | 'whileGranted'>;
  sandboxes: Pick<SandboxStore, 'get' | 'find' | 'names'>;
  users: Pick<UserStore, 'findUser'>;
  teams: Pick<TeamStore, 'find'>;
  callerRights: Pick<CallerRights, 'whileOwner'>;
  clock: Clock;
}

export interface GivenToken {
  sandboxId: string;
  /** In clear: no call shows it again. */
  token: string;
  /** Stands in the audit log; safe in logs. */
  tokenId: string;
  expiresAt: number;
}

export class SandboxTokens implements TokenHolders {
  readonly #deps: SandboxTokensDependencies;

  constructor(dependencies: SandboxTokensDependencies) {
    this.#deps = dependencies;
  }

  /** Returns a new token of one of the caller's own sandboxes, in any state, that outlives no key with an end. */
  async create(caller: Caller, reference: string, expiresInMinutes: number): Promise<GivenToken> {
    const { id } = await resolveSandbox(this.#deps.sandboxes, caller, reference);
    const longest = this.#deps.clock.now() + expiresInMinutes * MINUTE_MS;
    const expiresAt = Math.min(longest, caller.keyExpiresAt ?? longest);
    const token = await this.#signed(id, ownerIdOf(caller), { nonce: randomText(ID_CHARS), expiresAt });
    return { sandboxId: id, token, tokenId: idOf(token), expiresAt };
  }

  /** Returns the token that the sandbox has until its tokens are revoked, for clients that ask for it again and again. */
  async standing(caller: Caller, reference: string): Promise<string> {
    const { id } = await resolveSandbox(this.#deps.sandboxes, caller, reference);
    return this.#signed(id, ownerIdOf(caller), STANDING);
  }

  /** Likewise, by the id alone, to compare with it what a stranger has made of it; null where there is none. */
  async standingOf(sandboxId: string): Promise<string | null> {
    const ownerId = (await this.#deps.sandboxes.get(sandboxId))?.ownerId;
    return ownerId ? this.#signed(sandboxId, ownerId, STANDING) : null;
  }

  async isRunning(sandboxId: string): Promise<boolean> {
    return (await this.#deps.sandboxes.get(sandboxId))?.state === 'started';
  }

  /** Returns true for a sandbox that any use may start. */
  async wakes(sandboxId: string): Promise<boolean> {
    return (await this.#deps.sandboxes.get(sandboxId))?.sleep?.wakes === true;
  }

  async authenticate(text: string): Promise<Caller | null> {
    const token = readSandboxToken(text);
    if (!token) return null;
    const sandbox = await this.#deps.sandboxes.get(token.sandboxId);
    if (!sandbox?.ownerId || sandbox.operation === 'creating') return null;
    const { id: sandboxId, ownerId } = sandbox;
    const epoch = await this.#deps.access.tokenEpoch(sandboxId);
    if (!isSame(text, await this.#signed(sandboxId, ownerId, token))) return null;
    if (token.expiresAt !== null && token.expiresAt <= this.#deps.clock.now()) return null;
    const owner = await this.#owner(ownerId);
    if (!owner) return null;
    return {
      ...owner,
      ...{ role: 'member', scopes: ['sandboxes:read', 'sandboxes:write'], isNarrow: true },
      ...{ keyId: idOf(text), keyExpiresAt: token.expiresAt, only: { sandboxId, epoch } },
    };
  }

  /** Calls `end` once the token is over; never after a call of the returned function. */
  whileValid({ id, keyId, keyExpiresAt, only }: Caller, end: () => void): () => void {
    const { access, sandboxes, callerRights, clock } = this.#deps;
    const { sandboxId = '', epoch = 0 } = only ?? {};
    const holds = async () =>
      (await access.tokenEpoch(sandboxId)) === epoch && (await sandboxes.get(sandboxId))?.ownerId === id;
    const stops = [
      access.whileGranted('token', sandboxId, end, { name: keyId, holds }),
      callerRights.whileOwner(id, end),
      keyExpiresAt === null ? () => {} : at(clock, keyExpiresAt, end),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  async #signed(
    sandboxId: string,
    ownerId: string,
    { nonce, expiresAt }: Pick<SandboxToken, 'nonce' | 'expiresAt'>,
  ): Promise<string> {
    const text = `${nonce} ${expiresAt ?? 0}`;
    const signature = await this.#deps.access.sandboxSignature(sandboxId, ownerId, text);
    return writeSandboxToken({ sandboxId, nonce, expiresAt, signature });
  }

  /** Returns null for who may own no more. */
  async #owner(ownerId: string): Promise<Pick<Caller, 'id' | 'name' | 'email'> | null> {
    if (isTeamId(ownerId)) {
      const team = await this.#deps.teams.find(ownerId);
      return team && { id: team.id, name: team.name, email: '' };
    }
    const user = await this.#deps.users.findUser(ownerId);
    if (!user || user.disabledAt !== null || user.role === 'viewer') return null;
    return { id: user.id, name: user.name, email: user.email };
  }
}

function idOf(token: string): string {
  return `tok_${textOf(digestOf(token)).slice(0, ID_CHARS)}`;
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digestOf(one), digestOf(other));
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
