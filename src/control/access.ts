/**
 * The tokens that gateways ask for. A minted one is a row that keeps only its hash, and is dead at its expiry
 * and with its sandbox. The token of a standard preview needs no row: it is derived from the sandbox and the
 * port, and dies with the sandbox, since ids are never drawn twice.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { SandhavenError } from '../model/errors.ts';
import { newTokenId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { AccessKind, AccessToken, AccessTokenStore, Clock } from './ports.ts';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
/** 130 bits: 26 characters, which fit a label of a host name beside a port. */
const TOKEN_CHARS = 26;

/** What a minted or derived token looks like. */
export const accessTokenPattern = /^[a-z2-7]{26}$/;

export interface AccessDependencies {
  tokens: AccessTokenStore;
  clock: Clock;
  /** Of standard previews; secret, and the same for as long as the service's data is. */
  previewKey: Buffer;
}

export class AccessService {
  readonly #d: AccessDependencies;

  constructor(dependencies: AccessDependencies) {
    this.#d = dependencies;
  }

  /** The token itself is told here and never again. Fails with `not_found` when the sandbox is gone. */
  async mint(
    sandboxId: string,
    kind: AccessKind,
    { port, expiresAt }: { port: number | null; expiresAt: number | null },
  ): Promise<{ token: string; record: AccessToken }> {
    const { tokens, clock } = this.#d;
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

  /** null for one that never was, has expired, or whose sandbox is gone. */
  async check(kind: AccessKind, token: string): Promise<AccessToken | null> {
    if (!accessTokenPattern.test(token)) return null;
    const found = await this.#d.tokens.byHash(kind, hashOf(token));
    if (!found || (found.expiresAt !== null && found.expiresAt <= this.#d.clock.now())) return null;
    return found;
  }

  /** Of a standard preview: always the same for one sandbox and port. */
  previewToken(sandboxId: string, port: number): string {
    const digest = createHmac('sha256', this.#d.previewKey).update(`${sandboxId} ${port}`).digest();
    return textOf(digest.subarray(0, TOKEN_CHARS));
  }

  isPreviewToken(sandboxId: string, port: number, token: string): boolean {
    return timingSafeEqual(hashOf(token), hashOf(this.previewToken(sandboxId, port)));
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Five bits of each byte. */
function textOf(bytes: Buffer): string {
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

function tooMany(kind: AccessKind): SandhavenError {
  return new SandhavenError(
    'resource_exhausted',
    `The sandbox has ${limits.accessTokensPerSandbox} ${kind === 'ssh' ? 'SSH' : 'preview'} tokens that are still valid.`,
    { hint: 'Use one of them, or wait until some expire; give later ones a shorter time.' },
  );
}
