/** Networks that admins have set for owners. */
import type { OwnerNetworks } from '../../../model/network/owner-networks.ts';

export interface OwnerNetworkStore {
  /** Returns the installation's for an owner without any, and for an unknown one. */
  of(ownerId: string): Promise<OwnerNetworks>;
  /** Changes what is given. Returns null for an unknown owner. They go with their owner. */
  set(ownerId: string, change: Partial<OwnerNetworks>): Promise<OwnerNetworks | null>;
  /**
   * Returns the ids of the owner's sandboxes that run, or that an operation may bring up; but not those that are being
   * created, of which nobody knows yet.
   */
  running(ownerId: string): Promise<string[]>;
}
