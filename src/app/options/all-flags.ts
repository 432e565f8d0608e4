/** The flags of `sandhaven up`, in the order of its help, and the text of it. */
import { archiveFlags, diskStoreFlags } from './disks.ts';
import type { Flag } from './flag.ts';
import { kubernetesFlags } from './kubernetes.ts';
import { listenerFlags } from './listeners.ts';
import { quotaFlags } from './quotas.ts';
import { sandboxFlags, trafficFlags } from './sandboxes.ts';
import { serviceFlags } from './service.ts';
import { providerFlags, signInFlags } from './sign-in.ts';

export const allFlags = {
  ...listenerFlags,
  ...serviceFlags,
  ...sandboxFlags,
  ...diskStoreFlags,
  ...trafficFlags,
  ...archiveFlags,
  ...providerFlags,
  ...signInFlags,
  ...quotaFlags,
  ...kubernetesFlags,
};

/** One value for each flag. */
export type FlagValues = { [Key in keyof typeof allFlags]: ReturnType<(typeof allFlags)[Key]['parse']> };

export const upHelp = `Usage: sandhaven up [flags]

Runs the service in the foreground. Each flag is also an environment variable, and a key of the
configuration file: --data-dir is SANDHAVEN_DATA_DIR and data-dir. SANDBOX_API_KEY, when set, is the first user's key;
DOCUMENTDB_CONNECTION_STRING the database of the DocumentDb tools ("sandhaven demo-db" runs one to try).

${linesOf(undefined)}
  --config …           YAML file of options ("sandhaven config --help")
  --prove              first create a sandbox, run code in it and delete it

With --runtime kubernetes:

${linesOf('kubernetes')}
`;

function linesOf(group: 'kubernetes' | undefined): string {
  const flags: Flag<string, unknown>[] = Object.values(allFlags);
  return flags
    .filter((flag) => flag.group === group)
    .map(({ name, default: value, help }) => {
      return `  --${`${name} …`.padEnd(20)} ${help}${value ? ` (${value})` : ''}`;
    })
    .join('\n');
}
