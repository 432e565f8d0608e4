/** Visitors of gateways in the audit log: nobody knows their names, so they stand for the owner of the sandbox. */
import { isTeamId } from '../../model/ids.ts';
import type { AuditSubject } from './audit.ts';

/** @param tokenId What the visitor was let in by. */
export function visitorOf(ownerId: string | null, tokenId: string | null): AuditSubject['caller'] {
  if (ownerId === null || !isTeamId(ownerId)) return { id: ownerId, keyId: tokenId };
  return { id: null, keyId: tokenId, team: { id: ownerId } };
}
