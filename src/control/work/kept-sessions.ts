/**
 * Sessions beyond the agent that holds them: a stop of the sandbox closes them, and what their commands printed stays
 * readable until the next start.
 */
import { within } from '../../concurrency/deadline.ts';
import { limits } from '../../model/limits.ts';
import type { AgentSessions, KeptCommand, Log, SessionCommandLogs, SessionStore } from '../ports/index.ts';

const NEVER_RAN = 'The session was closed before this command ran.\n';
/** As the agent answers for it. */
const NOT_RUN_EXIT_CODE = 125;

export class KeptSessions {
  readonly #store: SessionStore;
  readonly #agent: Pick<AgentSessions, 'listSessions' | 'sessionCommandLogs'>;
  readonly #log: Log;

  constructor(
    store: SessionStore,
    agent: Pick<AgentSessions, 'listSessions' | 'sessionCommandLogs'>,
    log: Log,
  ) {
    this.#store = store;
    this.#agent = agent;
    this.#log = log;
  }

  /** Called before a stop, which nothing here fails or holds up for long. */
  async keep(sandboxId: string): Promise<void> {
    const logs = new Map<string, KeptCommand[]>();
    try {
      if (!(await this.#store.knows(sandboxId))) return;
      const gathered = this.#gather(sandboxId, logs).catch(() => {});
      await within(limits.session.keepMs, gathered, () => {});
      await this.#store.keepLogs(sandboxId, new Map(logs));
    } catch (error) {
      this.#log.warn('logs of sessions were not kept', { sandbox: sandboxId, error });
    }
  }

  /** Called after a start, whose agent answers for its sessions from now on. */
  async drop(sandboxId: string): Promise<void> {
    await this.#store.dropLogs(sandboxId).catch((error: unknown) => {
      this.#log.warn('logs of closed sessions were not dropped', { sandbox: sandboxId, error });
    });
  }

  /** Takes the newest command of each session, then the next ones, as long as there is room. */
  async #gather(sandboxId: string, logs: Map<string, KeptCommand[]>): Promise<void> {
    const { keepMs, keptBytes, recentCommands } = limits.session;
    const { sessions } = await this.#agent.listSessions(sandboxId, { timeoutMs: keepMs });
    let room = keptBytes;
    for (let nth = 0; nth < recentCommands; nth++) {
      for (const session of sessions) {
        const command = session.recentCommands[nth];
        if (command === undefined) continue;
        const { sessionId } = session;
        const log = await this.#agent
          .sessionCommandLogs(sandboxId, sessionId, command.commandId)
          .catch(() => null);
        if (log === null) continue;
        room -= Buffer.byteLength(log.output) + Buffer.byteLength(log.stdout) + Buffer.byteLength(log.stderr);
        if (room < 0) return;
        const kept = logs.get(sessionId) ?? [];
        logs.set(sessionId, [...kept, { commandId: command.commandId, ...closed(log) }]);
      }
    }
  }
}

/** Returns the log as it is once the session is closed. Nobody sees with which code the stop ends what runs. */
function closed({ status, ...log }: SessionCommandLogs): Omit<SessionCommandLogs, 'status'> {
  if (status !== 'queued') return log;
  const bytes = Buffer.byteLength(NEVER_RAN);
  return { ...log, exitCode: NOT_RUN_EXIT_CODE, output: NEVER_RAN, stderr: NEVER_RAN, nextOffset: bytes };
}
