/**
 * Audit rows of visits through gateways. A page is many requests, so a visitor gets one row, and another after a while; a
 * visitor is an address with one token at one port.
 */
import { auditActions } from '../../model/audit.ts';
import { isTeamId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Clock } from '../ports/index.ts';
import type { AuditService, AuditSubject } from './audit.ts';

export interface PreviewGrant {
  sandboxId: string;
  ownerId: string | null;
  /** null: one file. */
  port: number | null;
  /** null: the sandbox's own token of that port. */
  tokenId: string | null;
  address: string | null;
}

export class PreviewGrants {
  readonly #audit: Pick<AuditService, 'note'>;
  readonly #clock: Clock;
  /** Time of the last row of each visitor, oldest first. */
  readonly #noted = new Map<string, number>();

  constructor(audit: Pick<AuditService, 'note'>, clock: Clock) {
    this.#audit = audit;
    this.#clock = clock;
  }

  note({ sandboxId, ownerId, port, tokenId, address }: PreviewGrant): void {
    const now = this.#clock.now();
    const visitor = JSON.stringify([sandboxId, port, tokenId, address]);
    if ((this.#noted.get(visitor) ?? Number.NEGATIVE_INFINITY) > now - limits.audit.previewGrantMs) return;
    this.#noted.delete(visitor);
    this.#noted.set(visitor, now);
    const [oldest] = this.#noted.keys();
    if (this.#noted.size > limits.audit.previewGrants && oldest !== undefined) this.#noted.delete(oldest);
    const subject = {
      action: auditActions.previewGrant,
      caller: visitorOf(ownerId, tokenId),
      origin: { transport: 'preview', address },
      requestId: null,
    } as const;
    this.#audit.note(subject, { outcome: 'ok', durationMs: 0, sandboxId });
  }
}

/**
 * Visitors of gateways in the audit log: nobody knows their names, so they stand for the owner of the sandbox.
 * @param tokenId What the visitor was let in by.
 */
export function visitorOf(ownerId: string | null, tokenId: string | null): AuditSubject['caller'] {
  if (ownerId === null || !isTeamId(ownerId)) return { id: ownerId, keyId: tokenId };
  return { id: null, keyId: tokenId, team: { id: ownerId } };
}
