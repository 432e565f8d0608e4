/** Credentials for the SSH gateway: Sandbox.CreateSshAccess. */
import { SandhavenError } from '../../model/errors.ts';
import type { User } from '../../model/user.ts';
import type { Clock } from '../ports/index.ts';
import type { Uses } from '../work/use.ts';
import type { AccessService } from './tokens.ts';

export interface SshAccess {
  host: string;
  port: number;
  /** The sandbox's id. The token is its password; alone, the token also serves as user name. */
  username: string;
  /** Sensitive: returned once, never stored. */
  accessToken: string;
  /** `ssh-ed25519 AAAA…` */
  hostKey: string;
  /** null: never. */
  expiresAt: number | null;
}

export interface SshEndpoint {
  host: string;
  port: number;
  hostKey: string;
}

const MINUTE_MS = 60_000;

export class SshAccessService {
  readonly #uses: Pick<Uses, 'run'>;
  readonly #access: Pick<AccessService, 'mint'>;
  readonly #clock: Clock;
  #endpoint: SshEndpoint | null = null;

  constructor(uses: Pick<Uses, 'run'>, access: Pick<AccessService, 'mint'>, clock: Clock) {
    this.#uses = uses;
    this.#access = access;
    this.#clock = clock;
  }

  /** Sets the gateway's address; before that no access can be created. */
  serveAt(endpoint: SshEndpoint): void {
    this.#endpoint = endpoint;
  }

  /** Creates access to a started sandbox; earlier tokens stay valid. 0 minutes never expire. */
  async create(
    caller: User,
    reference: string | undefined,
    { expiresInMinutes }: { expiresInMinutes: number },
  ): Promise<SshAccess> {
    return this.#uses.run(caller, reference, async ({ id }) => {
      const endpoint = this.#endpoint;
      if (!endpoint) {
        throw new SandhavenError('unavailable', 'The SSH gateway is not ready.', {
          hint: 'Try again in a moment.',
        });
      }
      const expiresAt = expiresInMinutes === 0 ? null : this.#clock.now() + expiresInMinutes * MINUTE_MS;
      const { token } = await this.#access.mint(id, 'ssh', { port: null, expiresAt });
      return { ...endpoint, username: id, accessToken: token, expiresAt };
    });
  }
}
