/** The flags of `sandhaven up`, in the order of its help. */
import { archiveFlags } from './archives.ts';
import { kubernetesFlags } from './kubernetes.ts';
import { listenerFlags } from './listeners.ts';
import { providerFlags } from './provider.ts';
import { quotaFlags } from './quotas.ts';
import { sandboxFlags } from './sandboxes.ts';
import { serviceFlags } from './service.ts';
import { signInFlags } from './sign-in.ts';
import { trafficFlags } from './traffic.ts';

export const allFlags = {
  ...listenerFlags,
  ...serviceFlags,
  ...sandboxFlags,
  ...trafficFlags,
  ...archiveFlags,
  ...providerFlags,
  ...signInFlags,
  ...quotaFlags,
  ...kubernetesFlags,
};

/** One value for each flag. */
export type FlagValues = { [Key in keyof typeof allFlags]: ReturnType<(typeof allFlags)[Key]['parse']> };
