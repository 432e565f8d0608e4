/**
 * Access to a team's sandboxes through the gateways. Tokens name no person, so when somebody leaves, all of them end, and
 * those who stay ask for new ones.
 */
import { mapBounded } from '../../concurrency/map-bounded.ts';
import { limits } from '../../model/limits.ts';
import type { AccessService } from '../access/tokens.ts';
import type { SandboxStore } from '../ports/index.ts';

export class TeamAccess {
  readonly #sandboxes: Pick<SandboxStore, 'names'>;
  readonly #access: Pick<AccessService, 'revoke'>;

  constructor(sandboxes: Pick<SandboxStore, 'names'>, access: Pick<AccessService, 'revoke'>) {
    this.#sandboxes = sandboxes;
    this.#access = access;
  }

  /** Ends every SSH token and every preview of the team's sandboxes, with their open connections. */
  async end(teamId: string): Promise<void> {
    const { sandboxes, accessEndedAtOnce } = limits.teams;
    const owned = await this.#sandboxes.names(teamId, sandboxes);
    await mapBounded(owned, accessEndedAtOnce, ({ id }) => this.#access.revoke(id, ['ssh', 'preview']));
  }
}
