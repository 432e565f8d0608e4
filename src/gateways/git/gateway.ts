/** Opens proxies: one remote repository each, with the credentials that stay in the service. */
import { randomBytes } from 'node:crypto';
import type { GitGateway } from '../../control/ports/index.ts';
import type { AllowedRemote } from '../../model/git/allowed-remotes.ts';
import { limits } from '../../model/limits.ts';
import { type Resolve, reachableAddresses, resolveHost } from './reachable.ts';
import { RemoteProxy } from './remote-proxy.ts';
import { openUpstream, type Timing } from './upstream.ts';

const NONCE_BYTES = 16;

export interface GatewayOptions {
  /** Permitted in addition to public addresses. */
  allowed: AllowedRemote[];
  timing?: Timing;
  resolve?: Resolve;
}

export function createGitGateway(options: GatewayOptions): GitGateway {
  const { allowed, timing = limits.git, resolve = resolveHost } = options;
  return {
    async open(remote, access, purpose, signal) {
      const addresses = await reachableAddresses(remote, allowed, resolve);
      signal?.throwIfAborted();
      const upstream = openUpstream(remote, addresses, timing);
      const nonce = randomBytes(NONCE_BYTES).toString('hex');
      return new RemoteProxy({ remote, access, purpose, upstream, nonce });
    },
  };
}
