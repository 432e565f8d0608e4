/** Dependencies of all services, which `startService` opens and closes. */
import type { AccessService } from '../../control/access/tokens.ts';
import type { AuditService } from '../../control/audit/audit.ts';
import type { SignInProvider } from '../../control/people/people.ts';
import type { CodeHost, DocumentDatabase, Store, TrafficNotes } from '../../control/ports/index.ts';
import type { Quota } from '../../model/quota.ts';
import type { Exit } from '../../outbound/exit.ts';
import type { Engine } from '../engine/engine.ts';

export interface Dependencies {
  store: Store;
  engine: Engine;
  access: AccessService;
  documents: DocumentDatabase | null;
  /** The code-hosting provider. */
  host: CodeHost | null;
  audit: AuditService;
  /** One of its own by default. */
  exit?: Exit;
  /** Default quota of members. */
  memberQuota: Quota;
  /** Key of the challenges for passkeys: the same for all replicas. */
  challengeKey: Buffer;
  /** None by default. */
  signInProvider?: SignInProvider | null;
  /** Place of the day's traffic; without one, counts begin anew with the service. */
  trafficNotes?: TrafficNotes | null;
}
