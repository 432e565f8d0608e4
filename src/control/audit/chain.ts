/**
 * The chain of hashes through the audit log. Each is keyed, so that whoever can write to the database cannot compute
 * one; a row's covers the one before it, so none can be changed, moved, put in or taken out unseen.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { AuditRow, ChainEnd } from '../../model/audit.ts';
import type { SealedEnd } from '../ports/index.ts';

/** Of the canonical form: another form gets another number. */
const FORMAT = 1;

/** What a seal is for: one of these never passes for the other. */
export type SealPurpose = 'anchor' | 'checkpoint';

export class AuditChain {
  readonly #key: KeyObject;
  /** Before the first row. */
  readonly origin: ChainEnd;

  constructor(key: Buffer) {
    // Made once: of bytes, it would be made anew for every row, at five times the cost.
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

  /** The end without its seal; null when the seal is not of this key and purpose. */
  unseal(purpose: SealPurpose, sealed: SealedEnd | null): ChainEnd | null {
    if (sealed === null) return null;
    const { sequence, hash, seal } = sealed;
    return same(seal, this.#sealOf(purpose, { sequence, hash })) ? { sequence, hash } : null;
  }

  #sealOf(purpose: SealPurpose, { sequence, hash }: ChainEnd): Buffer {
    return this.#mac(purpose, hash, String(sequence));
  }

  /** All parts but the last have a fixed length, or an end of their own. */
  #mac(purpose: string, ...parts: (Buffer | string)[]): Buffer {
    const hmac = createHmac('sha256', this.#key).update(`${FORMAT} ${purpose}\n`);
    for (const part of parts) hmac.update(part);
    return hmac.digest();
  }
}

export function same(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** By position, so that two rows with one canonical form are the same row. */
function canonical(row: Omit<AuditRow, 'hash'>): string {
  const { sequence, time, action, transport, outcome, durationMs, userId, keyId } = row;
  const { sandboxId, clientAddress, requestId, count } = row;
  return JSON.stringify([
    ...[sequence, time, action, transport, outcome, durationMs],
    ...[userId, keyId, sandboxId, clientAddress, requestId, count],
  ]);
}
