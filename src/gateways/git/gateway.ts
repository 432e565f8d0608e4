/** Opens proxies: one remote repository each, with the credentials that stay in the service. */
import { randomBytes } from 'node:crypto';
import type { GitGateway } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { GitUrl } from '../../model/git/url.ts';
import { limits } from '../../model/limits.ts';
import type { AllowedHost } from '../../model/network/allowed-hosts.ts';
import { NotReached } from '../../outbound/addresses.ts';
import type { Exit } from '../../outbound/exit.ts';
import { RemoteProxy } from './remote-proxy.ts';
import { openUpstream, type Timing, targetOf } from './upstream.ts';

const NONCE_BYTES = 16;

export interface GatewayOptions {
  exit: Exit;
  /** Permitted in addition to public addresses. */
  allowed: readonly AllowedHost[];
  timing?: Timing;
}

export function createGitGateway({ exit, allowed, timing = limits.git }: GatewayOptions): GitGateway {
  return {
    async open(remote, access, purpose, call) {
      const addresses = await exit
        .addresses(targetOf(remote), { allowed, ...call })
        .catch((error: unknown) => {
          throw error instanceof NotReached ? refusalOf(error, remote) : error;
        });
      call.signal?.throwIfAborted();
      const upstream = openUpstream(remote, addresses, timing);
      const nonce = randomBytes(NONCE_BYTES).toString('hex');
      return new RemoteProxy({ remote, access, purpose, upstream, nonce });
    },
  };
}

function refusalOf(error: NotReached, { host }: GitUrl): SandhavenError {
  if (error.reason === 'private') {
    return new SandhavenError('permission_denied', `The service does not connect to ${host}.`, {
      parameter: 'url',
      hint: 'Its address is not public. The operator of the service can allow it with --git-allow.',
    });
  }
  const hint = error.reason === 'unknown' ? 'Check the URL.' : 'Check the URL, or try again later.';
  return new SandhavenError('unavailable', error.message, { parameter: 'url', hint }, error);
}
