/** Loads the code of a library in several turns of the event loop: a large one at once holds it for a tenth of a second. */
import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Loads each of these modules in a turn of its own. An import finds them loaded, as long as it means the same files as
 * `require`. Rejects when one is missing.
 * @param from URL of a module that could import them.
 * @param modules Those first that others need.
 */
export async function loadInTurns(from: string, modules: readonly string[]): Promise<void> {
  const load = createRequire(from);
  for (const name of modules) {
    load(name);
    await nextTurn();
  }
}
