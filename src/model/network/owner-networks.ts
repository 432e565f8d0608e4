/** Networks that an admin has set for an owner, a user or a team, in place of the installation's. */
import type { NetworkSetting } from '../sandbox.ts';

/** null: the installation's alone. */
export interface OwnerNetworks {
  /** Of the owner's sandboxes whose creation asks for none. */
  usual: NetworkSetting | null;
  /** The most that the owner's sandboxes reach, within the installation's ceiling. */
  most: NetworkSetting | null;
}

export const installationNetworks: OwnerNetworks = { usual: null, most: null };
