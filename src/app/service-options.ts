/** Options of a service, already read from flags and environment. */
import type { OrderMode } from '../control/documents/order-of-use.ts';
import type { PoolBounds } from '../control/pool/size.ts';
import type { Clock, Log } from '../control/ports/index.ts';
import type { Rate } from '../fairness/rate.ts';
import type { IdentityOptions } from '../model/access/identity-options.ts';
import type { ArchiveOptions } from '../model/archive-options.ts';
import type { DiskStoreOptions } from '../model/disk-store.ts';
import type { GpuKind } from '../model/gpu-kind.ts';
import type { KubernetesOptions } from '../model/kubernetes-options.ts';
import type { AllowedHost } from '../model/network/allowed-hosts.ts';
import type { TrafficOptions } from '../model/network/traffic.ts';
import type { ProviderOptions } from '../model/provider.ts';
import type { Quota } from '../model/quota.ts';
import type { Regions } from '../model/region.ts';
import type { RegistryRules } from '../model/registries.ts';
import type { NetworkSetting } from '../model/sandbox.ts';
import type { StoreAddress } from '../model/store-address.ts';
import type { TracingOptions } from '../model/tracing-options.ts';

export interface ServiceOptions {
  dataDir: string;
  /** The PostgreSQL database; SQLite in the data directory when absent. */
  store?: StoreAddress | null;
  /** Size of the warm pool; equal bounds fix it. */
  warmPool: PoolBounds;
  /** Retention of an unused image. */
  imageKeptMinutes: number;
  /** Time without activity after which sandboxes sleep that have no own setting; 0, the default: they do not. */
  sleepAfterSeconds?: number;
  /** Retention of audit rows; 0 keeps them forever. */
  auditKeptDays: number;
  /** The first user's key, when the operator chose it. */
  apiKey: string | undefined;
  /** Place of archives; this host by default. */
  archives?: ArchiveOptions;
  /** The cluster whose Pods sandboxes are; the engine of this host makes them when absent. */
  kubernetes?: KubernetesOptions | null;
  /** File system that disks lie in; as it is by default. */
  diskStore?: DiskStoreOptions;
  /** The program that starts machines on this host; the quickest by default. */
  machineRuntime?: 'auto' | 'runc' | 'direct';
  /** Devices that count as GPUs; by default NVIDIA's whole devices. */
  gpuKind?: GpuKind;
  /** Non-public Git remotes that may receive credentials; by default this host alone. */
  gitAllow?: AllowedHost[];
  /** Non-public receivers that webhooks may have; none by default. */
  webhookAllow?: AllowedHost[];
  /** Sources of images; `everyRegistry` by default. */
  registryRules?: RegistryRules;
  /** The code-hosting provider; none when absent. */
  provider?: ProviderOptions | null;
  /** The team's identity provider; none when absent. */
  identity?: IdentityOptions | null;
  /** Network of sandboxes that ask for none; open by default. */
  defaultNetwork?: NetworkSetting;
  /** The most that any sandbox reaches; open by default. */
  mostNetwork?: NetworkSetting;
  /** Limits of traffic; by default of new connections, and shares of a link whose speed is known. */
  traffic?: TrafficOptions;
  /** Quota of every user without one set by an admin. */
  quota?: Partial<Quota>;
  /** GB that all disks may promise per free GB. */
  diskOvercommit?: number;
  /** Rate limit of a key; unlimited when absent. */
  rate?: Rate | null;
  /** Region of the service, and others to list; by default one without a place. */
  regions?: Regions;
  /** true: users may sign in with a password; not by default. */
  passwordSignIn?: boolean;
  /** true: admins read inside everybody's sandboxes; not by default. */
  adminsReadInside?: boolean;
  /** true: owners may open ports to everybody; not by default. */
  publicPorts?: boolean;
  /** Collector of traces; none when absent. */
  tracing?: TracingOptions | null;
  /** The document database; none when absent. */
  documentDb?: { connectionString: string | null; orderOfUse: OrderMode };
  clock: Clock;
  log: Log;
}
