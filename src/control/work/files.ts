/** Files of a sandbox; its agent does all work on them inside. */
import type { Readable } from 'node:stream';
import type { User } from '../../model/user.ts';
import type { AgentLink } from '../ports/index.ts';
import type { SandboxUses } from './sandbox-uses.ts';

export type FileService = ReturnType<typeof filesOf>;

type Reference = string | undefined;

export function filesOf(uses: SandboxUses, agent: AgentLink) {
  /** Makes an operation of an agent one of a caller's sandbox: the caller and the reference stand in place of its id. */
  const used =
    <Rest extends unknown[], T>(operation: (id: string, ...rest: Rest) => Promise<T>) =>
    (caller: User, reference: Reference, ...rest: Rest): Promise<T> =>
      uses.run(caller, reference, ({ id }) => operation(id, ...rest));
  return {
    list: used(agent.list),
    find: used(agent.find),
    info: used(agent.stat),
    read: used(agent.read),
    write: used(agent.write),
    createFolder: used(agent.createFolder),
    move: used(agent.move),
    remove: used(agent.remove),
    search: used(agent.searchContent),
    replace: used(agent.replaceInFiles),

    /** Counts as a use of the sandbox until the stream has ended. */
    readStream(
      caller: User,
      reference: Reference,
      query: { path: string; start?: number; end?: number },
      signal?: AbortSignal,
    ): Promise<{ size: number; stream: Readable }> {
      return new Promise((resolve, reject) => {
        uses
          .run(caller, reference, async ({ id }) => {
            const opened = await agent.readStream(id, query, signal);
            resolve(opened);
            await new Promise((closed) => opened.stream.once('close', closed));
          })
          .catch(reject);
      });
    },
  };
}
