/** View of a sandbox's network beside what of it is in force, and of its traffic. */
import { z } from 'zod';
import { networkOutput, timestamp, toNetworkView } from '../../catalog/sandbox-view.ts';
import type { ShownNetwork } from '../../control/network/network-service.ts';
import type { NetworkPolicy } from '../../model/network/policy.ts';
import { policyOf } from '../../model/network/setting.ts';
import { toTrafficView, trafficOutput, trafficText } from './traffic-view.ts';

export const inForceOutput = networkOutput.pick({ mode: true }).extend({
  rules: z.array(z.string()).describe('Of its profiles too, within the ceilings.'),
});

export const shownNetworkOutput = z.looseObject({
  sandbox: z.string(),
  network: networkOutput,
  in_force: inForceOutput,
  learning_until: z
    .string()
    .nullable()
    .describe('Until then the sandbox has all that the ceilings allow, and learns rules of it.'),
  traffic: trafficOutput.nullable().describe('null where nobody counts it.'),
});

type ShownNetworkView = z.output<typeof shownNetworkOutput>;

export function toShownNetwork(shown: ShownNetwork): ShownNetworkView {
  const { sandboxId, setting, inForce, learnsUntil, traffic } = shown;
  return {
    ...{ sandbox: sandboxId, network: toNetworkView(setting), in_force: toInForceView(inForce) },
    learning_until: learnsUntil === null ? null : timestamp(learnsUntil),
    traffic: traffic && toTrafficView(traffic),
  };
}

export function toInForceView(policy: NetworkPolicy): z.output<typeof inForceOutput> {
  return { mode: policy.mode, rules: policy.mode === 'rules' ? policy.rules.map(({ text }) => text) : [] };
}

/**
 * Shows each profile and rule of a setting as a row, and one without any, or the usual one, as one.
 * @param usual Text for the usual one, which is null.
 */
export function settingRows(
  network: z.output<typeof networkOutput> | null,
  usual: string,
): Record<string, unknown>[] {
  if (network === null) return [{ mode: 'default', allows: usual }];
  const { mode, profiles, allow } = network;
  const words = [...profiles, ...allow];
  if (mode === 'open') return [{ mode, allows: 'all that is public' }];
  return (words.length === 0 ? ['nothing'] : words).map((allows) => ({ mode, allows }));
}

/** Shows each profile and rule as a row, and a network without any as one; the traffic of today beside the first. */
export function networkRows(shown: ShownNetworkView): Record<string, unknown>[] {
  const [first, ...others] = ruleRows(shown);
  const today = shown.traffic ? { today: trafficText(shown.traffic) } : {};
  return [{ ...first, ...today }, ...others];
}

function ruleRows({ network, in_force }: ShownNetworkView): Record<string, unknown>[] {
  const { mode, profiles, allow } = network;
  const inForce = new Set(in_force.rules);
  const row = (allows: string, isWhole: boolean) => ({
    ...{ mode, allows, in_force: isWhole ? 'yes' : 'within the ceiling' },
  });
  const part = (allows: string, of: { profiles?: string[]; allow?: string[] }) => {
    const policy = policyOf({ mode: 'rules', profiles: [], allow: [], ...of });
    return row(allows, policy.mode === 'rules' && policy.rules.every(({ text }) => inForce.has(text)));
  };
  if (mode !== 'rules')
    return [row(mode === 'open' ? 'all that is public' : 'nothing', in_force.mode === mode)];
  if (profiles.length + allow.length === 0) return [row('nothing', true)];
  return [
    ...profiles.map((name) => part(name, { profiles: [name] })),
    ...allow.map((rule) => part(rule, { allow: [rule] })),
  ];
}
