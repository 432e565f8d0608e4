/** The preview gateway itself over files in memory, with real passes: the sandbox alone is not there. */
import { setImmediate as turn } from 'node:timers/promises';
import { FilePreviews } from '../../../src/control/access/file-previews.ts';
import { AccessService } from '../../../src/control/access/tokens.ts';
import { PreviewGateway } from '../../../src/gateways/preview/gateway.ts';
import { createArrivals } from '../../../src/model/network/arrival.ts';
import type { PreviewSite } from '../../../src/model/network/service-names.ts';
import type { Caller } from '../../../src/model/user.ts';
import { user } from '../../surfaces/fakes/fake-services.ts';
import type { World } from './world.ts';

export interface ServedPreviews {
  site: PreviewSite;
  /** Keys that are revoked from now on. */
  revoked: Set<string>;
  access: AccessService;
  close(): Promise<void>;
}

export async function serveFilePreviews({ services, sandboxes }: World): Promise<ServedPreviews> {
  const epochs = new Map<string, number>();
  const revoked = new Set<string>();
  const tokens = {
    previewEpoch: async (id: string) => epochs.get(id) ?? 0,
    revoke: async (id: string) => {
      epochs.set(id, (epochs.get(id) ?? 0) + 1);
      return { ssh: 0, preview: 0 };
    },
  };
  const access = new AccessService({ tokens: tokens as never, clock: Date, previewKey: Buffer.alloc(32, 7) });
  let site: PreviewSite | null = null;
  const found = async (caller: Caller, reference: string) => {
    await turn();
    return services.sandboxes.get(caller, reference);
  };
  const files = new FilePreviews({
    uses: {
      run: async (caller: Caller, reference: string, work: (box: object) => unknown) =>
        work(await found(caller, reference)),
      connected: async (id: string, work: (box: object) => unknown) => work(sandboxes.get(id) ?? {}),
    } as never,
    agent: {
      stat: (id: string, query: { path: string }) => services.files.info(user, id, query),
      readStream: (id: string, query: { path: string }) => services.files.readStream(user, id, query),
    },
    access,
    callerRights: { whileValid: () => () => {}, isValid: async ({ keyId }) => !revoked.has(keyId) },
    grants: { note: () => {} },
    site: () => site,
    clock: Date,
  });
  const silent = { info() {}, warn() {}, error() {} };
  const gateway = new PreviewGateway({
    ...{ access: {} as never, files, domain: 'localhost', arrivals: createArrivals([]), tls: null },
    log: silent,
  });
  const port = await gateway.listen({ host: '127.0.0.1', port: 0 });
  site = { protocol: 'http', domain: 'localhost', port };
  Object.assign(services, { filePreviews: files });
  Object.assign(services.previews, { site });
  return { site, revoked, access, close: () => gateway.close() };
}
