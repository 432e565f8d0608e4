/**
 * Running sandboxes that a change of something they share reaches, a secret or a ceiling, each in its turn. What a failure or a
 * restart leaves, the next start of the sandbox or the adoption by the next process repairs: both read the store.
 */
import { within } from '../../concurrency/deadline.ts';
import { mapBounded } from '../../concurrency/in-portions.ts';
import type { Unfinished } from '../../concurrency/unfinished.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { Log, SandboxPatch } from '../ports/index.ts';
import type { Networks } from '../reach/networks.ts';
import type { Turns } from '../turns/turns.ts';

export interface RunningSandboxesDependencies {
  machines: Pick<Turns, 'change'>;
  networks: Pick<Networks, 'apply'>;
  unfinished: Pick<Unfinished, 'add'>;
  log: Log;
}

type Patch = (sandbox: Sandbox) => SandboxPatch | null;

export class RunningSandboxes {
  readonly #deps: RunningSandboxesDependencies;

  constructor(dependencies: RunningSandboxesDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Puts what is stored in force in these sandboxes. Rejects with `unavailable` where one of them could not be reached, or not
   * in `limits.network.reachMs`: the work goes on.
   * @param what Has changed, for people; work on one thing in one sandbox is there once.
   */
  async reach(ids: string[], what: string, patch: Patch = () => null): Promise<void> {
    const reached = mapBounded(ids, limits.network.reachedAtOnce, (id) => this.#one(id, what, patch));
    const late = () => {
      throw notEverywhere(what);
    };
    const all = await within(limits.network.reachMs, reached, late);
    if (all.includes(false)) throw notEverywhere(what);
  }

  /** Returns false, and goes on trying, when it fails. */
  async #one(id: string, what: string, patch: Patch): Promise<boolean> {
    try {
      await this.#apply(id, patch);
      return true;
    } catch (error) {
      const { unfinished, log } = this.#deps;
      log.warn('a change is not in force in a sandbox', { what, sandbox: id, error });
      unfinished.add(`${what} in ${id}`, () => this.#apply(id, patch));
      return false;
    }
  }

  async #apply(id: string, patch: Patch): Promise<void> {
    const { machines, networks } = this.#deps;
    try {
      await machines.change(id, patch, (sandbox) => networks.apply(sandbox));
    } catch (error) {
      const isGone = error instanceof SandhavenError && error.code === 'not_found';
      if (!isGone) throw error;
    }
  }
}

function notEverywhere(what: string): SandhavenError {
  return new SandhavenError(
    'unavailable',
    `The change of ${what} is stored, and is not in force in all running sandboxes yet.`,
    { hint: 'The service goes on trying; repeat the call to try at once.' },
  );
}
