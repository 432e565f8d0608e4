/** Secrets that the egress program puts into requests of one machine. In memory alone: no note and no log has them. */
import type { SecretUse } from '../../../../model/secrets/use.ts';
import type { Authority } from '../egress/authority.ts';

export interface MachineSecrets {
  uses: readonly SecretUse[];
  authority: Authority;
}

/** Returns the ports of their hosts, in order. */
export function ledPortsOf(secrets: MachineSecrets | null): number[] {
  const ports = secrets?.uses.flatMap(({ targets }) => targets.map(({ port }) => port)) ?? [];
  return [...new Set(ports)].sort((one, other) => one - other);
}
