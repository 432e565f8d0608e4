/** Wires networks of sandboxes, the secrets that requests carry through them, and the watch of their traffic. */
import type { Unfinished } from '../../concurrency/unfinished.ts';
import type { CallerRights } from '../../control/callers/caller-rights.ts';
import type { Quotas } from '../../control/callers/quotas.ts';
import type { Machines } from '../../control/lifecycle/machines.ts';
import { Learning, type LearningDependencies } from '../../control/network/learning.ts';
import { NetworkLog } from '../../control/network/network-log.ts';
import { NetworkService } from '../../control/network/network-service.ts';
import { OwnerNetworkService } from '../../control/network/owner-networks.ts';
import { RunningSandboxes } from '../../control/network/running-sandboxes.ts';
import { DayTraffic } from '../../control/network/traffic/day-traffic.ts';
import { OwnerQuotas } from '../../control/network/traffic/judgement.ts';
import { TrafficWatch } from '../../control/network/traffic/traffic-watch.ts';
import type {
  AgentLink,
  Clock,
  Log,
  NetworkEvents,
  NetworkTraffic,
  Runtime,
  SandboxStore,
  Store,
  TrafficNotes,
} from '../../control/ports/index.ts';
import { ProviderRefusals } from '../../control/provider/refusals.ts';
import { type InstallationNetworks, NetworkBounds } from '../../control/reach/bounds.ts';
import { type NetworkDependencies, Networks } from '../../control/reach/networks.ts';
import { ProviderTokens } from '../../control/reach/provider-tokens.ts';
import { SandboxTrust } from '../../control/reach/sandbox-trust.ts';
import { SecretUses } from '../../control/reach/secret-uses.ts';
import { ProviderRenewals, ProviderSecrets } from '../../control/secrets/provider-secrets.ts';
import { SandboxSecrets } from '../../control/secrets/sandbox-secrets.ts';
import { SecretActivity } from '../../control/secrets/secret-activity.ts';
import { SecretService } from '../../control/secrets/secret-service.ts';
import type { Services } from '../../control/services.ts';
import { allBytes, dayOf, type TrafficOptions } from '../../model/network/traffic.ts';
import { operatorNames } from '../../outbound/operator-names.ts';
import type { Provider } from './wire-git.ts';

interface NetworkParts {
  store: Pick<Store, 'secrets' | 'serviceSecrets' | 'ownerNetworks' | 'authorizations'>;
  sandboxes: SandboxStore;
  runtime: Runtime;
  agent: AgentLink;
  installation: InstallationNetworks;
  /** null without a code-hosting provider. */
  provider: Provider | null;
  callerRights: CallerRights;
  /** Used once it is made, which needs the networks. */
  machines: Pick<Machines, 'change'>;
  /** null where the engine has no network policies. */
  reports: NetworkEvents | null;
  /** null where nobody counts it. */
  traffic: Pick<TrafficWatch, 'of'> | null;
  unfinished: Unfinished;
  clock: Clock;
  log: Log;
}

export function wireNetworks(parts: NetworkParts) {
  const { store, sandboxes, runtime, agent, installation, machines, reports } = parts;
  const { provider, traffic, unfinished, clock, log } = parts;
  const tokens = providerTokens(parts, (ownerId) => renewals?.changed(ownerId));
  const { secrets: kept, serviceSecrets } = store;
  const secretUses = new SecretUses({ store: kept, serviceSecrets, provider: tokens, clock });
  const inTurn: NetworkDependencies['inTurn'] = (id, work) => machines.change(id, () => null, work);
  const bounds = new NetworkBounds(store.ownerNetworks, installation);
  const networks = new Networks({ runtime, secrets: secretUses, bounds, inTurn, unfinished, log });
  const trust = new SandboxTrust({ runtime, agent, networks, inTurn, unfinished, log });
  const running = new RunningSandboxes({ machines, networks, unfinished, log });
  const renewals: ProviderRenewals | null =
    provider &&
    tokens &&
    new ProviderRenewals({ store: kept, provider: tokens, tokens: provider.tokens, running, log });
  const sandboxSecrets = new SandboxSecrets({
    ...{ store: kept, sandboxes, runtime, trust, machines, networks },
  });
  const secretActivity = new SecretActivity({ store: kept, log });
  reports?.onReports((pieces) => secretActivity.hear(pieces));
  return {
    ...{ networks, secretUses, trust, secretActivity, renewals },
    services: {
      ...wireNetworkLog({ store: sandboxes, ...{ machines, networks, traffic, unfinished, clock, reports } }),
      secrets: new SecretService({ store: kept, runtime, running, provider: provider?.host ?? null, clock }),
      providerSecrets: providerSecrets(parts),
      sandboxSecrets,
      ownerNetworks: new OwnerNetworkService({ store: store.ownerNetworks, networks, bounds, running }),
    },
  };
}

function providerTokens(
  { provider, store, callerRights, clock, log }: NetworkParts,
  disabled: (ownerId: string) => void,
): ProviderTokens | null {
  if (!provider) return null;
  const { host, tokens } = provider;
  return new ProviderTokens({
    host,
    store: store.authorizations,
    tokens,
    callerRights,
    disabled,
    clock,
    log,
  });
}

function providerSecrets({ provider, store, runtime, clock }: NetworkParts): ProviderSecrets | null {
  if (!provider) return null;
  const { host, tokens, authorizations } = provider;
  return new ProviderSecrets({
    ...{ host, store: store.secrets, tokens, runtime, clock },
    refusals: new ProviderRefusals(authorizations),
    resolve: async (name) => (await operatorNames.find(name)).map(({ address }) => address),
  });
}

/** Wires what users see of networks: the settings, the log, and the learning of rules. */
interface NetworkLogParts extends LearningDependencies {
  networks: Networks;
  traffic: Pick<TrafficWatch, 'of'> | null;
  /** null where the engine has no network policies. */
  reports: NetworkEvents | null;
}

function wireNetworkLog({ reports, ...parts }: NetworkLogParts): Pick<Services, 'networks' | 'learning'> {
  const events = new NetworkLog(parts.clock, (id) => reports?.ownerOf(id) ?? null);
  const learning = new Learning(parts);
  reports?.onReports((pieces) => {
    events.add(pieces);
    learning.hear(pieces);
  });
  return { networks: new NetworkService({ ...parts, learning, events }), learning };
}

interface TrafficParts {
  traffic: NetworkTraffic | undefined;
  notes: TrafficNotes | null;
  options: TrafficOptions;
  changed(id: string): void;
  clock: Clock;
  log: Log;
}

interface WiredTraffic {
  /** Returns the bytes of an owner's traffic of today. */
  ofOwner: ((ownerId: string) => number) | undefined;
  /** Returns null where the engine counts nothing. */
  watch(quotas: Quotas): TrafficWatch | null;
}

/** Quotas show the counts, and the watch asks for quotas: so it is made in a second step. */
export function wireTraffic({ traffic, notes, options, changed, clock, log }: TrafficParts): WiredTraffic {
  if (!traffic) return { ofOwner: undefined, watch: () => null };
  const day = new DayTraffic(dayOf(clock.now()));
  return {
    ofOwner: (ownerId) => allBytes(day.ofOwner(ownerId)),
    watch: (quotas) =>
      new TrafficWatch({
        ...{ traffic, day, notes, changed, clock, log },
        ...{ quotas: new OwnerQuotas(quotas, clock), each: options.each, uplinkMbps: options.uplinkMbps },
      }),
  };
}
