/** Slots: the parts of a machine that this host gives out by number. */
import type { NetworkTraffic } from '../../../control/ports/index.ts';
import type { LearningPolicy, NetworkPolicy } from '../../../model/network/policy.ts';
import type { Slot } from '../host/plan.ts';
import type { MachineSecrets } from './policies.ts';

/** Traffic of machines, and what the slots' users note of them. */
export interface SlotTraffic extends NetworkTraffic {
  /** Notes that a machine has got an owner. */
  assigned(id: string): void;
}

/** Ready slots; acquiring one is immediate while the pool has any. */
export interface Slots {
  readonly traffic: SlotTraffic;
  /**
   * Takes the instance for this process alone, until `close`; `init` does it too. Fails with `failed_precondition`
   * when a running service or another data directory has its id.
   */
  claim(): void;
  /**
   * Recovers the slots that sandboxes held before a restart, removes the rest, fills the pool.
   * @param fence Arguments of the launcher that put a helper program into the fence.
   */
  init(fence?: string[]): Promise<void>;
  /** Binds a slot to the sandbox until `release`, the same one each time; `resource_exhausted` when none is left. */
  acquire(sandboxId: string): Promise<Slot>;
  /** The slot of a sandbox, when it has one. */
  get(sandboxId: string): Promise<Slot | null>;
  /**
   * Makes the namespaces anew before the slot is handed out again. The caller has removed the machine's cgroups, so
   * none of its processes is left.
   */
  release(sandboxId: string): Promise<void>;
  /**
   * Sets policy and secrets of a sandbox until `release`: at once where it has a slot, and otherwise when it gets one. Until
   * then it reaches nothing. Resolves once they hold for open connections too.
   */
  setNetwork(
    sandboxId: string,
    policy: NetworkPolicy | LearningPolicy,
    secrets: MachineSecrets | null,
  ): Promise<void>;
  /** Resolves once the policy holds that the sandbox had when it got its slot; rejects when it could not be set. */
  networkSet(sandboxId: string): Promise<void>;
  /** Sandbox ids that hold slots, for finding orphans. */
  held(): Promise<string[]>;
  free(): number;
  /**
   * Ends the service's own parts (DNS forwarder, unused slots); slots in use and their firewall stay.
   * @param options `keepsClaim`: a purge follows.
   */
  close(options?: { keepsClaim?: boolean }): Promise<void>;
  /**
   * Removes every trace of this instance (table, links, namespaces, addresses, locks), for uninstall and tests. The instance is
   * claimed meanwhile: another service that does not see its data directory, as from another mount namespace, would take it for
   * dead, and free its numbers for a third one whose address this would then remove.
   */
  purge(): Promise<void>;
}
