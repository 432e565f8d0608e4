/** Revokes the tokens of CreateSshAccess and GetPortPreviewUrl, in any state of the sandbox. */
import type { User } from '../../model/user.ts';
import type { AccessKind, SandboxStore } from '../ports/index.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import type { AccessService } from './tokens.ts';

export interface RevokedAccess {
  sandboxId: string;
  /** Revoked minted tokens that had not expired. */
  tokens: Record<AccessKind, number>;
}

export class AccessRevocation {
  readonly #store: SandboxStore;
  readonly #access: Pick<AccessService, 'revoke'>;

  constructor(store: SandboxStore, access: Pick<AccessService, 'revoke'>) {
    this.#store = store;
    this.#access = access;
  }

  /** Revokes access to one of the caller's own sandboxes and ends its open connections. */
  async revoke(caller: User, reference: string, kinds: readonly AccessKind[]): Promise<RevokedAccess> {
    const { id } = await resolveSandbox(this.#store, caller, reference);
    return { sandboxId: id, tokens: await this.#access.revoke(id, kinds) };
  }
}
