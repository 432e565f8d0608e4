/** Store of what admins see of everybody's sandboxes: no env vars, no labels, nothing from inside. */
import type { Sandbox } from '../../model/sandbox.ts';
import type { User } from '../../model/user.ts';
import type { Page } from './common.ts';

export interface OwnedSandbox
  extends Pick<
    Sandbox,
    | 'id'
    | 'name'
    | 'state'
    | 'operation'
    | 'stateReason'
    | 'image'
    | 'resources'
    | 'createdAt'
    | 'lastActivityAt'
  > {
  /** A team has no email. */
  owner: Pick<User, 'id' | 'name'> & { email: string | null };
}

export interface EverybodyFilter {
  ownerId?: string;
  state?: Sandbox['state'];
}

export interface EverybodyStore {
  /** Newest first (createdAt, then id, descending); none of the warm pool, and none that is being created. */
  list(filter: EverybodyFilter, page: Page): Promise<{ sandboxes: OwnedSandbox[]; totalCount: number }>;
}
