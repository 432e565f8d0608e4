/** Visits to ports of sandboxes as E2B's clients make them: by the sandbox's own token, with the refusals that they know. */
import type { Admission } from '../../control/access/preview-access.ts';
import type { SandboxTokens } from '../../control/access/sandbox-tokens.ts';
import { shortId } from './base/address.ts';
import { TRAFFIC_HEADER } from './base/credentials.ts';
import { NotRunning } from './base/errors.ts';

/** Parts of the gateway of previews. */
export function visitsOf(tokens: Pick<SandboxTokens, 'authenticate' | 'isRunning'>) {
  return {
    tokenHeaders: [TRAFFIC_HEADER],

    async admitElse(sandboxId: string, port: number, token: string): Promise<Admission | null> {
      const holder = async () => {
        const caller = await tokens.authenticate(token);
        return caller?.only?.sandboxId === sandboxId ? caller : null;
      };
      const found = await holder();
      if (!found) return null;
      const right = { name: found.keyId, holds: async () => (await holder()) !== null };
      return { sandboxId, port, tokenId: found.keyId, expiresAt: found.keyExpiresAt, right };
    },

    /** Strangers learn whether a sandbox runs, as by its `/health`. */
    async unadmitted(sandboxId: string): Promise<{ status: number; json: object }> {
      if (await tokens.isRunning(sandboxId)) {
        const message = `The port answers only with the header ${TRAFFIC_HEADER}.`;
        return { status: 403, json: { code: 403, message } };
      }
      const { message, sandboxId: id } = new NotRunning(shortId(sandboxId));
      return { status: 502, json: { code: 502, message, sandboxId: id } };
    },
  };
}
