/**
 * Hash chain of the audit log. Each hash is keyed, so write access to the database is not enough to compute one; each
 * covers the hash before it, so no row can be changed, moved, inserted or removed unseen.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { AuditRow, ChainEnd } from '../../model/audit.ts';
import type { SealedEnd } from '../ports/index.ts';

/** Version of the canonical form: another form gets another number. */
const FORMAT = 1;

/** Purpose of a seal: a seal of one purpose never passes for the other. */
export type SealPurpose = 'anchor' | 'checkpoint';

export class AuditChain {
  readonly #key: KeyObject;
  /** End of the chain before its first row. */
  readonly origin: ChainEnd;

  constructor(key: Buffer) {
    // Created once: HMAC from raw bytes would create it again for every row, at five times the cost.
    this.#key = createSecretKey(key);
    this.origin = { sequence: 0, hash: this.#mac('origin', '') };
  }

  hashOf(previous: Buffer, row: Omit<AuditRow, 'hash'>): Buffer {
    return this.#mac('row', previous, canonical(row));
  }

  link(end: ChainEnd, row: Omit<AuditRow, 'hash' | 'sequence'>): AuditRow {
    const numbered = { ...row, sequence: end.sequence + 1 };
    return { ...numbered, hash: this.hashOf(end.hash, numbered) };
  }

  seal(purpose: SealPurpose, { sequence, hash }: ChainEnd): SealedEnd {
    return { sequence, hash, seal: this.#sealOf(purpose, { sequence, hash }) };
  }

  /** Returns the end without its seal; null when the seal does not match this key and purpose. */
  unseal(purpose: SealPurpose, sealed: SealedEnd | null): ChainEnd | null {
    if (sealed === null) return null;
    const { sequence, hash, seal } = sealed;
    return same(seal, this.#sealOf(purpose, { sequence, hash })) ? { sequence, hash } : null;
  }

  #sealOf(purpose: SealPurpose, { sequence, hash }: ChainEnd): Buffer {
    return this.#mac(purpose, hash, String(sequence));
  }

  /** Invariant: every part but the last has a fixed length or a terminator of its own. */
  #mac(purpose: string, ...parts: (Buffer | string)[]): Buffer {
    const hmac = createHmac('sha256', this.#key).update(`${FORMAT} ${purpose}\n`);
    for (const part of parts) hmac.update(part);
    return hmac.digest();
  }
}

export function same(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Lists values by position, so that two rows with one canonical form are the same row. */
function canonical(row: Omit<AuditRow, 'hash'>): string {
  const { sequence, time, action, transport, outcome, durationMs, userId, keyId } = row;
  const { sandboxId, clientAddress, requestId, count, teamId, madeBy } = row;
  return JSON.stringify([
    ...[sequence, time, action, transport, outcome, durationMs],
    ...[userId, keyId, sandboxId, clientAddress, requestId, count],
    // Absent without one, so that rows from before there were teams, and makers of keys, keep their hashes.
    ...(teamId === undefined && madeBy === undefined ? [] : [teamId ?? null]),
    ...(madeBy === undefined ? [] : [madeBy]),
  ]);
}
