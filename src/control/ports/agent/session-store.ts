/** Sessions beyond the agent that held them, until their sandbox is deleted. */
import type { SessionCommandLogs } from './sessions.ts';

/** A command of a session that a stop has closed. */
export interface KeptCommand extends Omit<SessionCommandLogs, 'status'> {
  commandId: string;
}

export interface SessionStore {
  /** Notes that a session was made; of one sandbox the newest `limits.session.noted` stay noted. */
  note(sandboxId: string, sessionId: string, createdAtMs: number): Promise<void>;
  /** Returns true when such a session was made, and with no id when any was. */
  knows(sandboxId: string, sessionId?: string): Promise<boolean>;
  /** Keeps the logs of noted sessions. */
  keepLogs(sandboxId: string, logs: ReadonlyMap<string, KeptCommand[]>): Promise<void>;
  /** Returns the kept logs of a session; none when there are none, or no session. */
  logs(sandboxId: string, sessionId: string): Promise<KeptCommand[]>;
  /** Drops all kept logs of a sandbox; its sessions stay noted. */
  dropLogs(sandboxId: string): Promise<void>;
}
