/**
 * Network policies of this instance's machines: kept for each sandbox, in force while it holds a slot. The firewall
 * judges addresses, the egress program judges names and has the secrets. Whatever fails leaves the machine with nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { KeyedQueue } from '../../../concurrency/keyed-queue.ts';
import type { Log } from '../../../control/ports/index.ts';
import type { LearningPolicy, NetworkPolicy } from '../../../model/network/policy.ts';
import type { SecretUse } from '../../../model/secrets/use.ts';
import { addressOf } from '../host/plan.ts';
import type { Authority } from './egress/authority.ts';
import type { Egress } from './egress/egress.ts';
import type { EgressPolicy } from './egress/messages.ts';
import type { Firewall } from './firewall.ts';
import { type AddressPolicy, addressPolicyOf } from './policy/address-policy.ts';
import type { PolicyNote, PolicyNotes } from './policy/notes.ts';
import type { Packets } from './policy/packets.ts';

export interface Policies {
  /**
   * Puts the noted policies of machines that ran before in force, and begins to keep all in force. A machine with secrets
   * reaches through the egress program nothing until they are set anew.
   */
  begin(held: ReadonlyMap<string, number>): Promise<void>;
  /** Sets policy and secrets of a sandbox: at once where it holds a slot, and otherwise when it gets one. */
  set(
    sandboxId: string,
    policy: NetworkPolicy | LearningPolicy,
    secrets: MachineSecrets | null,
  ): Promise<void>;
  /** Begins to put the sandbox's policy in force in the slot that it has got. */
  enter(sandboxId: string): void;
  /** Resolves when the policy of the sandbox is in force; rejects when it could not be. */
  entered(sandboxId: string): Promise<void>;
  /** Forgets the policy; resolves once the address of the slot, where it had one, reaches nothing. */
  leave(sandboxId: string, index?: number): Promise<void>;
  /** Waits for changes under way. */
  close(): Promise<void>;
}

/** Secrets that the egress program puts into requests of one machine. In memory alone: no note and no log has them. */
export interface MachineSecrets {
  uses: readonly SecretUse[];
  authority: Authority;
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

/** Policy and secrets that a sandbox is meant to have. */
interface Meant {
  policy: NetworkPolicy | LearningPolicy;
  secrets: MachineSecrets | null;
}

const RETRY_MS = 1_000;
const NOTHING: PolicyNote = { policy: { mode: 'none' }, ledPorts: [] };

export function createPolicies(parts: PoliciesDependencies): Policies {
  const { firewall, egress, notes, packets, slotOf, ownerOf, log } = parts;
  const meant = new Map<string, Meant>();
  const entering = new Map<string, Promise<void>>();
  const turns = new KeyedQueue({ preempted: () => new Error('the network of sandboxes is closed') });
  let isClosed = false;

  /** The egress program comes first on the way to it, and last on the way from it. */
  async function enforce(sandboxId: string): Promise<void> {
    const [index, wanted] = [slotOf(sandboxId), meant.get(sandboxId)];
    if (index === undefined) return;
    if (wanted === undefined) return notes.write(index, NOTHING);
    const address = addressOf(index);
    try {
      const { policy, secrets } = wanted;
      const ledPorts = ledPortsOf(secrets);
      // A machine that learned goes on when the next service is told of it, not before.
      notes.write(index, policy.mode === 'learn' ? NOTHING : { policy, ledPorts });
      const byAddress = addressPolicyOf(policy, ledPorts);
      if (firewall.policies().get(address)?.learns) await packets.read();
      const byName = egressPolicyOf(wanted);
      if (byName) await egress.set({ ...byName, address, sandbox: sandboxId, owner: ownerOf(sandboxId) });
      await firewall.set(address, byAddress);
      if (!byName) await egress.drop(address);
    } catch (error) {
      meant.delete(sandboxId);
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
        const note = notes.read(index);
        const part = note && addressPolicyOf(note.policy, note.ledPorts);
        if (part) byAddress.set(addressOf(index), part);
        // Without its secrets a machine would send placeholders to their hosts.
        if (note?.ledPorts.length === 0) meant.set(sandboxId, { policy: note.policy, secrets: null });
      }
      await firewall.start(byAddress);
      for (const [sandboxId, { policy }] of meant) if (policy.mode === 'rules') enter(sandboxId);
    },

    set(sandboxId, policy, secrets) {
      meant.set(sandboxId, { policy, secrets });
      return turns.run(sandboxId, () => enforce(sandboxId));
    },

    enter,
    entered: async (sandboxId) => entering.get(sandboxId),

    async leave(sandboxId, index) {
      meant.delete(sandboxId);
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

/** Returns the egress program's part; null where it has none. */
function egressPolicyOf({ policy, secrets }: Meant): Pick<EgressPolicy, 'rules' | 'open'> | null {
  const opened = secrets && { secrets: secrets.uses, authority: secrets.authority };
  switch (policy.mode) {
    case 'open':
      return opened && { rules: [], open: true, ...opened };
    case 'none':
      return null;
    case 'rules':
      return { rules: policy.rules, ...opened };
    case 'learn':
      return { rules: policy.rules, open: policy.open, ...opened };
  }
}

/** Returns the ports of the hosts that take secrets, in order. */
export function ledPortsOf(secrets: MachineSecrets | null): number[] {
  const ports = secrets?.uses.flatMap(({ targets }) => targets.map(({ port }) => port)) ?? [];
  return [...new Set(ports)].sort((one, other) => one - other);
}
