/** A gateway of previews alone, in this process: every preview leads to one application of the test. */
import { connect } from 'node:net';
import type { PreviewAccess } from '../../src/control/access/preview-access.ts';
import { PreviewGateway } from '../../src/gateways/preview/gateway.ts';
import { createArrivals } from '../../src/model/network/arrival.ts';

export interface LoneGateway {
  gateway: PreviewGateway;
  /** URL of the application's preview, with a slash at the end. */
  site: string;
  /** Messages of level error in its log. */
  errors: string[];
}

/**
 * @param port Of the application, on the loopback.
 * @param reach Connects to it.
 */
export async function startLoneGateway(
  port: number,
  reach: PreviewAccess['connect'] = async () => connect(port, '127.0.0.1'),
): Promise<LoneGateway> {
  const errors: string[] = [];
  const access = {
    admitStandard: async (sandboxId: string) => ({ sandboxId, port, tokenId: null, expiresAt: null }),
    visit: (_admission: unknown, _address: unknown, _expire: unknown, work: () => Promise<void>) => work(),
    connect: reach,
  } as unknown as PreviewAccess;
  const log = { info() {}, warn() {}, error: (message: string) => void errors.push(message) };
  const parts = { access, files: {} as never, domain: 'localhost', arrivals: createArrivals([]), tls: null };
  const gateway = new PreviewGateway({ ...parts, log });
  const at = await gateway.listen({ host: '127.0.0.1', port: 0 });
  return { gateway, site: `http://3000-0000000000000001.localhost:${at}/`, errors };
}
