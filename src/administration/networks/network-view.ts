/** View of a sandbox's network beside what of it is in force. */
import { z } from 'zod';
import { networkOutput, toNetworkView } from '../../catalog/sandbox-view.ts';
import type { ShownNetwork } from '../../control/network/network-service.ts';

export const shownNetworkOutput = z.looseObject({
  sandbox: z.string(),
  network: networkOutput,
  in_force: networkOutput.pick({ mode: true }).extend({
    rules: z.array(z.string()).describe("Of its profiles too, within the installation's ceiling."),
  }),
});

type ShownNetworkView = z.output<typeof shownNetworkOutput>;

export function toShownNetwork({ sandboxId, setting, inForce }: ShownNetwork): ShownNetworkView {
  const rules = inForce.mode === 'rules' ? inForce.rules.map(({ text }) => text) : [];
  return { sandbox: sandboxId, network: toNetworkView(setting), in_force: { mode: inForce.mode, rules } };
}

/** Shows each profile and rule as a row, and a network without any as one. */
export function networkRows({ network, in_force }: ShownNetworkView): Record<string, unknown>[] {
  const { mode, profiles, allow } = network;
  const kept = [
    ...profiles.map((name) => ({ mode, kind: 'profile', allows: name })),
    ...allow.map((rule) => ({ mode, kind: 'rule', allows: rule })),
  ];
  const shown =
    kept.length > 0 ? kept : [{ mode, kind: '', allows: mode === 'open' ? 'all that is public' : 'nothing' }];
  const isNarrowed = in_force.mode !== mode;
  return isNarrowed
    ? [...shown, ...in_force.rules.map((rule) => ({ mode: in_force.mode, kind: 'ceiling', allows: rule }))]
    : shown;
}
