/** Options of a service, already read from flags and environment. */
import type { OrderMode } from '../control/documents/order-of-use.ts';
import type { Clock, Log } from '../control/ports/index.ts';
import type { Rate } from '../fairness/rate.ts';
import type { AllowedRemote } from '../model/git/allowed-remotes.ts';
import type { GpuKind } from '../model/gpu-kind.ts';
import type { ProviderOptions } from '../model/provider-options.ts';
import type { Quota } from '../model/quota.ts';
import type { Regions } from '../model/region.ts';
import type { RegistryRules } from '../model/registry-rules.ts';

export interface ServiceOptions {
  dataDir: string;
  warmPool: number;
  /** How long an image stays that nothing uses. */
  imageKeptMinutes: number;
  /** How long rows of the audit log stay; 0 for good. */
  auditKeptDays: number;
  /** The first user's key, when the operator chose it. */
  apiKey: string | undefined;
  /** What counts as a GPU; by default NVIDIA's whole devices. */
  gpuKind?: GpuKind;
  /** What Git remotes with credentials may be besides public; by default this host alone. */
  gitAllow?: AllowedRemote[];
  /** Where images are fetched from; `everyRegistry` by default. */
  registryRules?: RegistryRules;
  /** The code-hosting provider; none when absent. */
  provider?: ProviderOptions | null;
  /** What every user may have unless an admin says otherwise. */
  quota?: Partial<Quota>;
  /** GB that all disks may promise for each one that is free. */
  diskOvercommit?: number;
  /** How often a key may call; without a limit when absent. */
  rate?: Rate | null;
  /** Where this is; by default nowhere in particular. */
  regions?: Regions;
  /** The document database; none when absent. */
  documentDb?: { connectionString: string | null; orderOfUse: OrderMode };
  clock: Clock;
  log: Log;
}
