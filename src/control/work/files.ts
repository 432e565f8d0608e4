/** Files of a sandbox; its agent does all work on them inside. */
import type { Readable } from 'node:stream';
import type { User } from '../../model/user.ts';
import type { AgentLink, AsUser, WatchRequest, WatchSink } from '../ports/index.ts';
import { type SandboxUses, userOf } from './sandbox-uses.ts';

export type FileService = ReturnType<typeof filesOf>;

type Reference = string | undefined;

export function filesOf(uses: SandboxUses, agent: AgentLink) {
  /**
   * Makes an operation of an agent one of a caller's sandbox: the caller and the reference stand in place of its id, and
   * the user of the sandbox in place of none.
   */
  const used =
    <Query extends AsUser, Rest extends unknown[], T>(
      operation: (id: string, query: Query, ...rest: Rest) => Promise<T>,
    ) =>
    (caller: User, reference: Reference, query: Query, ...rest: Rest): Promise<T> =>
      uses.run(caller, reference, (sandbox) =>
        operation(sandbox.id, { ...query, user: userOf(sandbox, query) }, ...rest),
      );
  return {
    list: used(agent.list),
    find: used(agent.find),
    info: used(agent.stat),
    details: used(agent.details),
    setAttributes: used(agent.setAttributes),
    read: used(agent.read),
    write: used(agent.write),
    createFolder: used(agent.createFolder),
    move: used(agent.move),
    remove: used(agent.remove),
    search: used(agent.searchContent),
    replace: used(agent.replaceInFiles),

    /** Resolves when the folder is gone. A stop of the sandbox breaks the watch, and aborting the signal ends it. */
    async watch(
      caller: User,
      reference: Reference,
      request: WatchRequest,
      sink: WatchSink,
      signal: AbortSignal,
    ): Promise<void> {
      const { id } = await uses.find(caller, reference);
      await uses.connected(id, (sandbox) =>
        agent.watchFiles(id, { ...request, user: userOf(sandbox, request) }, sink, signal),
      );
    },

    /** Counts as a use of the sandbox until the stream has ended. */
    readStream(
      caller: User,
      reference: Reference,
      query: Parameters<AgentLink['readStream']>[1],
      signal?: AbortSignal,
    ): Promise<{ size: number; stream: Readable }> {
      return new Promise((resolve, reject) => {
        const read = used(async (id: string, asked: typeof query) => {
          const opened = await agent.readStream(id, asked, signal);
          resolve(opened);
          await new Promise((closed) => opened.stream.once('close', closed));
        });
        read(caller, reference, query).catch(reject);
      });
    },
  };
}
