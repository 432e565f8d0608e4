/** Actions on networks of sandboxes and snapshots. */
import { z } from 'zod';
import { networkOutput, timestamp, toNetworkView } from '../catalog/base/sandbox-view.ts';
import { network, networkOrDefault, networkWords } from '../catalog/parameters/network.ts';
import { sandbox } from '../catalog/parameters/sandbox.ts';
import { textWithoutNul } from '../catalog/parameters/scalars.ts';
import type { ShownNetwork } from '../control/network/network-service.ts';
import type { ShownTraffic } from '../control/network/traffic/traffic-watch.ts';
import { limits } from '../model/limits.ts';
import type { NetworkPolicy } from '../model/network/policy.ts';
import { networkProfileNames, networkProfiles } from '../model/network/profiles.ts';
import { parsedOf, policyOf } from '../model/network/setting.ts';
import { bytesOf } from '../model/network/traffic.ts';
import { defineAction } from './action.ts';

/** null: without a limit. */
const limit = z.int().nullable();

const limitsOutput = z.looseObject({
  bandwidth_mbps: limit,
  connections_per_second: limit,
  gb_per_day: limit,
});

const trafficOutput = z.looseObject({
  sent_bytes_today: z.int().describe('Since the UTC day began, at most some seconds old.'),
  received_bytes_today: z.int(),
  refused_connections_today: z.int().describe('New connections that came faster than a limit allows.'),
  limits: limitsOutput.describe('Of each sandbox.'),
  owner: limitsOutput
    .extend({ used_bytes_today: z.int() })
    .describe("Of all of its owner's sandboxes together."),
  refused_until: z
    .string()
    .nullable()
    .describe('End of a refusal: the traffic of today has been used up. null while the network is there.'),
  used_up: z.enum(['sandbox', 'owner']).nullable().describe('Whose traffic has been used up.'),
});

type TrafficView = z.output<typeof trafficOutput>;

function toTrafficView({ today, each, quota, ownerBytes, usedUp, until }: ShownTraffic): TrafficView {
  return {
    sent_bytes_today: today.sentBytes,
    received_bytes_today: today.receivedBytes,
    refused_connections_today: today.refusedConnections,
    limits: {
      bandwidth_mbps: each.bandwidthMbps,
      connections_per_second: each.connectionsPerSecond,
      gb_per_day: each.gbPerDay,
    },
    owner: {
      used_bytes_today: ownerBytes,
      bandwidth_mbps: quota.bandwidth ?? null,
      connections_per_second: quota.connections ?? null,
      gb_per_day: quota.traffic ?? null,
    },
    refused_until: until === null ? null : new Date(until).toISOString(),
    used_up: usedUp,
  };
}

/** Returns the traffic for a table, in GB with its limit, or the end of a refusal. */
function trafficText(view: TrafficView): string {
  if (view.refused_until !== null) return `used up until ${view.refused_until}`;
  const gb = (bytes: number) => (bytes / bytesOf(1)).toFixed(3);
  const most = view.limits.gb_per_day === null ? '' : `/${view.limits.gb_per_day}`;
  return `${gb(view.sent_bytes_today + view.received_bytes_today)}${most} GB`;
}

/** View of a sandbox's network beside what of it is in force, and of its traffic. */
export const inForceOutput = networkOutput.pick({ mode: true }).extend({
  rules: z.array(z.string()).describe('Of its profiles too, within the ceilings.'),
});

const shownNetworkOutput = z.looseObject({
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

function toShownNetwork(shown: ShownNetwork): ShownNetworkView {
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
function networkRows(shown: ShownNetworkView): Record<string, unknown>[] {
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
    const policy = policyOf(parsedOf({ mode: 'rules', profiles: [], allow: [], ...of }));
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

export const getNetwork = defineAction({
  name: 'GetNetwork',
  title: 'Get the network of a sandbox',
  description:
    'The network of one of your sandboxes as it is set, and the rules in force: those of its profiles too, within the ceilings ' +
    'that the operator has set for all sandboxes and an admin for yours.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'network get',
  argument: 'sandbox',
  input: z.strictObject({ sandbox }),
  output: shownNetworkOutput,
  async handler({ sandbox: reference }, { services, caller }) {
    return toShownNetwork(await services.networks.get(caller, reference));
  },
  rows: networkRows,
});

export const setNetwork = defineAction({
  name: 'SetNetwork',
  title: 'Set the network of a sandbox',
  description:
    'Replaces the network of one of your sandboxes, in any state. In a running one it is in force when the call ends, and ' +
    'open connections that it does not allow are ended. unavailable: it is stored, and the sandbox has no network until ' +
    'the service has put it in force.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'network set',
  argument: 'sandbox',
  words: 'network',
  input: z.strictObject({
    sandbox,
    network: network().describe(
      'open, none, or {"allow": rules, "profiles": names}: what these allow, and nothing else.',
    ),
  }),
  output: shownNetworkOutput,
  async handler({ sandbox: reference, network: request }, { services, caller }) {
    return toShownNetwork(await services.networks.set(caller, reference, request));
  },
  rows: networkRows,
});

const input = z.strictObject({
  sandbox,
  rules: networkWords().describe('Rules, such as https://api.example.com, and names of profiles.'),
});

const command = { role: 'member', scope: 'sandboxes:write', argument: 'sandbox', words: 'rules' } as const;

export const allowNetwork = defineAction({
  ...command,
  name: 'AllowNetwork',
  title: 'Allow a sandbox more network',
  description:
    'Adds rules and profiles to the network of one of your sandboxes. One that was none has these alone then. ' +
    'failed_precondition: the network is open, and allows them already.',
  command: 'network allow',
  input,
  output: shownNetworkOutput,
  async handler({ sandbox: reference, rules }, { services, caller }) {
    return toShownNetwork(await services.networks.allow(caller, reference, rules));
  },
  rows: networkRows,
});

export const denyNetwork = defineAction({
  ...command,
  name: 'DenyNetwork',
  title: 'Allow a sandbox less network',
  description:
    'Removes rules and profiles from the network of one of your sandboxes, each as GetNetwork shows it, and ends open ' +
    'connections that nothing allows any more.',
  command: 'network deny',
  input,
  output: shownNetworkOutput,
  async handler({ sandbox: reference, rules }, { services, caller }) {
    return toShownNetwork(await services.networks.deny(caller, reference, rules));
  },
  rows: networkRows,
});

export const setSnapshotNetwork = defineAction({
  name: 'SetSnapshotNetwork',
  title: 'Set the network of a snapshot',
  description:
    'Sets the network of sandboxes that are created from one of your snapshots without one of their own. Sandboxes that are ' +
    'there keep theirs. GetSnapshot shows it. permission_denied: the snapshot base is not yours.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'network snapshot',
  argument: 'snapshot',
  words: 'network',
  input: z.strictObject({
    snapshot: textWithoutNul().min(1).max(limits.sandboxNameChars).describe('Snapshot name or ID.'),
    network: networkOrDefault().describe(
      'open, none, {"allow": rules, "profiles": names}, or default: the usual network of its owner.',
    ),
  }),
  output: z.looseObject({
    snapshot: z.string(),
    name: z.string(),
    network: networkOutput.nullable().describe("null: the owner's usual one."),
  }),
  async handler({ snapshot, network: request }, { services, caller }) {
    const { id, name, network } = await services.snapshots.setNetwork(caller, snapshot, request);
    return { snapshot: id, name, network: network && toNetworkView(network) };
  },
  rows: ({ network }) => settingRows(network, "its owner's"),
});

export const listNetworkProfiles = defineAction({
  name: 'ListNetworkProfiles',
  title: 'List the network profiles',
  description: 'Named lists of network rules, for the networks of sandboxes.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'network profiles',
  input: z.strictObject({}),
  output: z.looseObject({
    profiles: z.array(
      z.looseObject({ name: z.string(), description: z.string(), rules: z.array(z.string()) }),
    ),
  }),
  async handler() {
    const profiles = networkProfileNames.map((name) => {
      const { description, rules } = networkProfiles[name];
      return { name, description, rules: [...rules] };
    });
    return { profiles };
  },
  rows: ({ profiles }) =>
    profiles.flatMap(({ name, rules }) => rules.map((rule) => ({ profile: name, rule }))),
});
