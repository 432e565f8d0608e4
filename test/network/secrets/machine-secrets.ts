/** Secrets of tests. */
import type { SecretUse } from '../../../src/model/secrets/use.ts';
import { authorityOf } from '../../../src/runtime/oci/network/egress/authority.ts';
import type { MachineSecrets } from '../../../src/runtime/oci/network/policies.ts';

/** Nothing but the egress program has it. */
export const value = 'value-f4c2a1e0b9d84736';

/** One secret for hosts at these ports. */
export function secretsAt(id: string, ...ports: number[]): MachineSecrets {
  return { uses: [secretFor(ports)], authority: authorityOf(Buffer.alloc(32, 1), id) };
}

function secretFor(ports: number[]): SecretUse {
  return {
    secret: 'se_0123456789abcdef',
    name: 'api-key',
    placeholder: 'sandhaven-secret-00112233445566778899aabbccddeeff',
    value,
    targets: ports.map((port) => ({ host: 'api.example.com', port, methods: [], path: null })),
    place: { in: 'header', name: 'authorization', format: 'Bearer {secret}' },
    expiresAt: null,
  };
}
