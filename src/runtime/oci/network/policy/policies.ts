/**
 * Network policies of this instance's machines: kept for each sandbox, in force while it holds a slot. The firewall
 * judges addresses, the egress program judges names. Whatever fails leaves the machine with nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { KeyedQueue } from '../../../../concurrency/keyed-queue.ts';
import type { Log } from '../../../../control/ports/index.ts';
import type { LearningPolicy, NetworkPolicy } from '../../../../model/network/policy.ts';
import { addressOf } from '../../host/plan.ts';
import type { Egress } from '../egress/egress.ts';
import type { Firewall } from '../firewall.ts';
import { type AddressPolicy, addressPolicyOf } from './address-policy.ts';
import type { PolicyNotes } from './notes.ts';
import type { Packets } from './packets.ts';

export interface Policies {
  /** Puts the noted policies of machines that ran before in force, and begins to keep all in force. */
  begin(held: ReadonlyMap<string, number>): Promise<void>;
  /** Sets the policy of a sandbox: at once where it holds a slot, and otherwise when it gets one. */
  set(sandboxId: string, policy: NetworkPolicy | LearningPolicy): Promise<void>;
  /** Begins to put the sandbox's policy in force in the slot that it has got. */
  enter(sandboxId: string): void;
  /** Resolves when the policy of the sandbox is in force; rejects when it could not be. */
  entered(sandboxId: string): Promise<void>;
  /** Forgets the policy; resolves once the address of the slot, where it had one, reaches nothing. */
  leave(sandboxId: string, index?: number): Promise<void>;
  /** Waits for changes under way. */
  close(): Promise<void>;
}

export interface PoliciesDependencies {
  firewall: Firewall;
  egress: Egress;
  notes: PolicyNotes;
  packets: Pick<Packets, 'read' | 'drop'>;
  /** Returns the slot that a sandbox holds. */
  slotOf(sandboxId: string): number | undefined;
  ownerOf(sandboxId: string): string;
  log: Log;
}

const RETRY_MS = 1_000;
const NOTHING: NetworkPolicy = { mode: 'none' };

export function createPolicies(parts: PoliciesDependencies): Policies {
  const { firewall, egress, notes, packets, slotOf, ownerOf, log } = parts;
  const policies = new Map<string, NetworkPolicy | LearningPolicy>();
  const entering = new Map<string, Promise<void>>();
  const turns = new KeyedQueue({ preempted: () => new Error('the network of sandboxes is closed') });
  let isClosed = false;

  /** The egress program comes first on the way to rules, and last on the way from them. */
  async function enforce(sandboxId: string): Promise<void> {
    const [index, policy] = [slotOf(sandboxId), policies.get(sandboxId)];
    if (index === undefined) return;
    if (policy === undefined) return notes.write(index, NOTHING);
    const address = addressOf(index);
    try {
      // A machine that learned goes on when the next service is told of it, not before.
      notes.write(index, policy.mode === 'learn' ? NOTHING : policy);
      const byAddress = addressPolicyOf(policy);
      if (firewall.policies().get(address)?.learns) await packets.read();
      if (policy.mode === 'rules' || policy.mode === 'learn') {
        const owner = ownerOf(sandboxId);
        const open = policy.mode === 'learn' && policy.open;
        await egress.set({ address, sandbox: sandboxId, owner, rules: policy.rules, open });
      }
      await firewall.set(address, byAddress);
      if (byAddress?.mode !== 'rules') await egress.drop(address);
    } catch (error) {
      policies.delete(sandboxId);
      await shut(index).catch((reason) =>
        log.warn('a network could not be shut', { reason: String(reason) }),
      );
      throw error;
    }
  }

  async function shut(index: number): Promise<void> {
    notes.write(index, NOTHING);
    await firewall.set(addressOf(index), null);
    packets.drop(addressOf(index));
    await egress.drop(addressOf(index));
  }

  function enter(sandboxId: string): void {
    const work = turns.run(sandboxId, () => enforce(sandboxId));
    work.catch((error) =>
      log.warn('a network policy is not in force', { sandbox: sandboxId, reason: String(error) }),
    );
    entering.set(sandboxId, work);
  }

  return {
    async begin(held) {
      const byAddress = new Map<string, AddressPolicy>();
      for (const [sandboxId, index] of held) {
        const policy = notes.read(index);
        const part = policy && addressPolicyOf(policy);
        if (policy) policies.set(sandboxId, policy);
        if (part) byAddress.set(addressOf(index), part);
      }
      await firewall.start(byAddress);
      for (const [sandboxId, { mode }] of policies) if (mode === 'rules') enter(sandboxId);
    },

    set(sandboxId, policy) {
      policies.set(sandboxId, policy);
      return turns.run(sandboxId, () => enforce(sandboxId));
    },

    enter,
    entered: async (sandboxId) => entering.get(sandboxId),

    async leave(sandboxId, index) {
      policies.delete(sandboxId);
      entering.delete(sandboxId);
      if (index === undefined) return;
      await turns.run(sandboxId, async () => {
        for (;;) {
          const failure = await shut(index).then(
            () => null,
            (error) => String(error.cause ?? error),
          );
          if (failure === null) return;
          log.warn('the network of a released slot is not shut yet', { reason: failure });
          if (isClosed) throw new Error(failure);
          await sleep(RETRY_MS);
        }
      });
    },

    async close() {
      isClosed = true;
      await turns.drained();
    },
  };
}
