/** Store of sign-ins of machines without a browser. */
import type { DeviceAnswer, DeviceGrant, DeviceSignIn } from '../../model/access/device-sign-ins.ts';

export interface DeviceSignInStore {
  /**
   * Adds one under the hash of its secret, after the removal of those that are over. Returns false when the network has as
   * many as it may. Above the bound of all networks, the oldest one of the network that has most gives way.
   */
  addDeviceSignIn(hash: Buffer, signIn: DeviceSignIn, network: string): Promise<boolean>;
  /** Returns one that waits for its user; null for one that is unknown, over or decided. */
  findDeviceSignIn(userCode: string, now: number): Promise<DeviceSignIn | null>;
  /** Decides one that waits: a grant, or null for no. Returns false for one that is unknown, over or decided. */
  decideDeviceSignIn(userCode: string, grant: DeviceGrant | null, now: number): Promise<boolean>;
  /** Returns the answer for the machine, and removes one that is decided: each grant is given out once. */
  takeDeviceAnswer(hash: Buffer, now: number): Promise<DeviceAnswer>;
}
