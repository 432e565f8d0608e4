/**
 * Everybody's sandboxes, for admins: they see that these exist, stop and delete them, and read nothing inside. The owner
 * of each stays as it is.
 */
import { notFound } from '../../model/errors.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { concerns } from '../audit/scope.ts';
import type { Machines } from '../lifecycle/machines.ts';
import type { EverybodyStore, OwnedSandbox, Page, SandboxStore, TeamStore } from '../ports/index.ts';
import type { UserService } from './users.ts';

export interface EverybodyDependencies {
  everybody: EverybodyStore;
  sandboxes: Pick<SandboxStore, 'reread'>;
  users: Pick<UserService, 'find'>;
  teams: Pick<TeamStore, 'find'>;
  machines: Pick<Machines, 'command'>;
}

export class EverybodysSandboxes {
  readonly #deps: EverybodyDependencies;

  constructor(dependencies: EverybodyDependencies) {
    this.#deps = dependencies;
  }

  /** @param owner Id or email of a user, id or name of a team; everybody's without it. */
  async list(
    { owner, state }: { owner?: string | undefined; state?: Sandbox['state'] | undefined },
    page: Page,
  ): Promise<{ sandboxes: OwnedSandbox[]; totalCount: number }> {
    const ownerId = owner === undefined ? undefined : await this.#ownerIdOf(owner);
    return this.#deps.everybody.list({ ...(ownerId && { ownerId }), ...(state && { state }) }, page);
  }

  /** Stops a sandbox; an ephemeral one is deleted by that. */
  async stop(id: string): Promise<{ id: string; name: string; state: Sandbox['state']; deleted: boolean }> {
    const { name } = await this.#find(id);
    const { sandbox, deleted } = await this.#deps.machines.command(id, { type: 'stop' });
    return { id, name, state: sandbox.state, deleted };
  }

  async delete(id: string): Promise<{ id: string; name: string }> {
    const { name } = await this.#find(id);
    await this.#deps.machines.command(id, { type: 'delete' });
    return { id, name };
  }

  async #ownerIdOf(owner: string): Promise<string> {
    return (await this.#deps.teams.find(owner))?.id ?? (await this.#deps.users.find(owner)).id;
  }

  /** Finds by id alone, since several owners may have one name. The warm pool is nobody's. */
  async #find(id: string): Promise<Sandbox> {
    const sandbox = await this.#deps.sandboxes.reread(id);
    if (sandbox && sandbox.ownerId !== null && sandbox.operation !== 'creating') {
      concerns(id);
      return sandbox;
    }
    throw notFound('sandbox', `There is no sandbox '${id}'.`, 'ListAllSandboxes shows the ids there are.');
  }
}
