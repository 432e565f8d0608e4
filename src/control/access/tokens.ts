/**
 * Access tokens of the gateways. A minted one is a row that keeps only its hash, and ends at its expiry and with its
 * sandbox. The token of a standard preview needs no row: it is derived from the sandbox and the port, and ends with the
 * sandbox, since ids are never drawn twice. A revocation removes the rows, changes the derived tokens, and ends the
 * open connections of both.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { SandhavenError } from '../../model/errors.ts';
import { newTokenId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { type PublicPorts, type WayInside, waysInside } from '../../model/sandbox-access.ts';
import { type End, OpenEnds, type Right } from '../callers/caller-rights.ts';
import type { AccessKind, AccessToken, AccessTokenStore, Clock, Replicas } from '../ports/index.ts';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
/** 130 bits: 26 characters, which fit a label of a host name beside a port. */
const TOKEN_CHARS = 26;

/** Form of a minted or derived token. */
export const accessTokenPattern = /^[a-z2-7]{26}$/;

export interface AccessDependencies {
  tokens: AccessTokenStore;
  clock: Clock;
  /** Key of standard preview tokens; secret, and unchanged for the lifetime of the data directory. */
  previewKey: Buffer;
  replicas?: Pick<Replicas, 'tell' | 'onTold'>;
}

export class AccessService {
  readonly #deps: AccessDependencies;
  readonly #open: OpenEnds;

  constructor(dependencies: AccessDependencies) {
    this.#deps = dependencies;
    this.#open = new OpenEnds(dependencies.replicas);
  }

  /** Returns the token in clear, for the only time. Rejects with `not_found` when the sandbox is gone. */
  async mint(
    sandboxId: string,
    kind: AccessKind,
    { port, expiresAt }: { port: number | null; expiresAt: number | null },
  ): Promise<{ token: string; record: AccessToken }> {
    const { tokens, clock } = this.#deps;
    const now = clock.now();
    await tokens.prune(now);
    if ((await tokens.count(sandboxId, kind, now)) >= limits.accessTokensPerSandbox) throw tooMany(kind);
    const token = textOf(randomBytes(TOKEN_CHARS));
    const record = {
      ...{ id: newTokenId(), sandboxId, kind, port },
      ...{ hash: hashOf(token), createdAt: now, expiresAt },
    };
    await tokens.insert(record);
    return { token, record };
  }

  /** Returns null for a token that is unknown or expired, or whose sandbox is gone. */
  async check(kind: AccessKind, token: string): Promise<AccessToken | null> {
    if (!accessTokenPattern.test(token)) return null;
    const found = await this.#deps.tokens.byHash(kind, hashOf(token));
    return found && !this.#isOver(found) ? found : null;
  }

  /** Returns the token of a standard preview: constant for one sandbox and port until its previews are revoked. */
  async previewToken(sandboxId: string, port: number): Promise<string> {
    const epoch = await this.#deps.tokens.previewEpoch(sandboxId);
    const named = epoch === 0 ? `${sandboxId} ${port}` : `${sandboxId} ${port} ${epoch}`;
    const digest = createHmac('sha256', this.#deps.previewKey).update(named).digest();
    return textOf(digest.subarray(0, TOKEN_CHARS));
  }

  /** Returns the signature of a pass to one file; it changes when previews of the sandbox are revoked. */
  async fileToken(sandboxId: string, pass: string): Promise<string> {
    const epoch = await this.#deps.tokens.previewEpoch(sandboxId);
    const digest = createHmac('sha256', this.#deps.previewKey).update(`file ${sandboxId} ${epoch} ${pass}`);
    return textOf(digest.digest().subarray(0, TOKEN_CHARS));
  }

  /** Returns the key that signs addresses of a sandbox's files; it changes when it is rotated, and when previews are revoked. */
  async signingKey(sandboxId: string): Promise<string> {
    const epoch = await this.#deps.tokens.signingEpoch(sandboxId);
    const digest = createHmac('sha256', this.#deps.previewKey).update(`sign ${sandboxId} ${epoch}`);
    return digest.digest('base64url');
  }

  async rotateSigningKey(sandboxId: string): Promise<string> {
    await this.#deps.tokens.raiseSigningEpoch(sandboxId);
    return this.signingKey(sandboxId);
  }

  /** Returns the signature of a sandbox's own token; it changes when those are revoked, and with the sandbox's owner. */
  async sandboxSignature(sandboxId: string, ownerId: string, text: string): Promise<string> {
    const epoch = await this.#deps.tokens.tokenEpoch(sandboxId);
    const named = `token ${sandboxId} ${ownerId} ${epoch} ${text}`;
    const digest = createHmac('sha256', this.#deps.previewKey).update(named).digest();
    return textOf(digest.subarray(0, TOKEN_CHARS));
  }

  tokenEpoch(sandboxId: string): Promise<number> {
    return this.#deps.tokens.tokenEpoch(sandboxId);
  }

  async isFileToken(sandboxId: string, pass: string, token: string): Promise<boolean> {
    return timingSafeEqual(hashOf(token), hashOf(await this.fileToken(sandboxId, pass)));
  }

  async isPreviewToken(sandboxId: string, port: number, token: string): Promise<boolean> {
    return timingSafeEqual(hashOf(token), hashOf(await this.previewToken(sandboxId, port)));
  }

  /**
   * Calls `end` when access of that kind is revoked, or the right is over; never after a call of the returned function.
   */
  whileGranted(kind: WayInside | 'public', sandboxId: string, end: End, right: Right): () => void {
    const ended = () => {
      stop();
      end();
    };
    const stops = [`${kind} ${sandboxId}`, right.name].map((id) => this.#open.watch(id, ended, right));
    const stop = () => {
      for (const each of stops) each();
    };
    return stop;
  }

  /** The right that a minted token gives, its expiry aside. */
  rightOf({ id, kind, hash }: Pick<AccessToken, 'id' | 'kind' | 'hash'>): Right {
    return { name: id, holds: async () => (await this.#deps.tokens.byHash(kind, hash)) !== null };
  }

  /** The right that a token of a standard preview gives. */
  rightOfPreview(sandboxId: string, port: number, token: string): Right {
    return {
      name: hashOf(token).toString('hex'),
      holds: () => this.isPreviewToken(sandboxId, port, token),
    };
  }

  /** The right to visit a port that is open to everybody. */
  rightOfPublic(sandboxId: string, port: number): Right {
    return {
      name: `public ${sandboxId} ${port}`,
      holds: async () => {
        const ports = await this.#deps.tokens.publicPorts(sandboxId);
        return ports === 'all' || ports.includes(port);
      },
    };
  }

  publicPorts(sandboxId: string): Promise<PublicPorts> {
    return this.#deps.tokens.publicPorts(sandboxId);
  }

  /** Opens exactly these ports to everybody. Visits without a token end, and those to ports that stay open come again. */
  async setPublicPorts(sandboxId: string, ports: PublicPorts): Promise<void> {
    await this.#deps.tokens.setPublicPorts(sandboxId, ports);
    this.#open.over(`public ${sandboxId}`);
  }

  /** Ends open connections whose access was revoked unheard. Rejects when the store cannot be read. */
  recheck(): Promise<void> {
    return this.#open.recheck();
  }

  endAll(): void {
    this.#open.endAll();
  }

  /**
   * Ends every token of these kinds, and the open connections of each. A token of the sandbox may have opened previews, so those
   * end with it, and public ports with them.
   * @returns the number of minted tokens that had not expired.
   */
  async revoke(sandboxId: string, wanted: readonly WayInside[]): Promise<Record<AccessKind, number>> {
    const kinds = waysInside.filter(
      (kind) => wanted.includes(kind) || (kind === 'preview' && wanted.includes('token')),
    );
    const revoked = await this.#deps.tokens.revoke(sandboxId, kinds, this.#deps.clock.now());
    for (const kind of kinds) this.#open.over(`${kind} ${sandboxId}`);
    if (kinds.includes('preview')) this.#open.over(`public ${sandboxId}`);
    return revoked;
  }

  /**
   * Ends one minted token of a sandbox, and the connections that are open by it.
   * @returns what it was; null for one that the sandbox does not have, or that has expired.
   */
  async revokeOne(sandboxId: string, token: string): Promise<AccessToken | null> {
    const removed = await this.#deps.tokens.remove(sandboxId, hashOf(token));
    if (removed) this.#open.over(removed.id);
    return removed && !this.#isOver(removed) ? removed : null;
  }

  #isOver({ expiresAt }: AccessToken): boolean {
    return expiresAt !== null && expiresAt <= this.#deps.clock.now();
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Takes five bits of each byte. */
export function textOf(bytes: Buffer): string {
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

function tooMany(kind: AccessKind): SandhavenError {
  return new SandhavenError(
    'resource_exhausted',
    `The sandbox has ${limits.accessTokensPerSandbox} ${kind === 'ssh' ? 'SSH' : 'preview'} tokens that are still valid.`,
    { hint: 'Use one of them, or wait until some expire; give later ones a shorter time.' },
  );
}
