/** Sessions of a scratch sandbox, with short words for what the tests do again and again. */
import { expect } from 'vitest';
import type { SessionCommandLogs, SessionCommandResult } from '../../../src/control/ports/index.ts';
import { newCommandId } from '../../../src/model/ids.ts';
import type { ScratchSandbox } from '../scratch-sandbox.ts';

const PATIENCE_MS = 30_000;
const ENV = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
};

export interface TestSession {
  id: string;
  /** Waits for the command's end. */
  run(command: string): Promise<SessionCommandResult>;
  /** Resolves with the command's id at once. */
  begin(command: string): Promise<string>;
  logs(commandId: string): Promise<SessionCommandLogs>;
  type(commandId: string, input: string): Promise<string>;
  /** Resolves with the logs when the command has ended. */
  ended(commandId: string): Promise<SessionCommandLogs>;
  /** Resolves when the command has printed this. */
  printed(commandId: string, text: string): Promise<void>;
}

let drawn = 0;

export async function openSession(
  { id: sandbox, agent }: ScratchSandbox,
  sessionId = `s${++drawn}`,
): Promise<TestSession> {
  await agent.createSession(sandbox, { sessionId, cwd: '.', env: ENV });
  const run = (command: string, commandId: string, waitMs: number) =>
    agent.runSessionCommand(sandbox, {
      sessionId,
      commandId,
      command,
      waitTurnMs: waitMs,
      waitRunMs: waitMs,
    });
  const session: TestSession = {
    id: sessionId,
    run: (command) => run(command, newCommandId(), PATIENCE_MS),
    async begin(command) {
      const commandId = newCommandId();
      await run(command, commandId, 0);
      return commandId;
    },
    logs: (commandId) => agent.sessionCommandLogs(sandbox, sessionId, commandId),
    type: (commandId, input) => agent.sendSessionInput(sandbox, { sessionId, commandId, input }),
    async ended(commandId) {
      const status = async () => (await session.logs(commandId)).status;
      await expect.poll(status, { timeout: PATIENCE_MS }).toBe('completed');
      return session.logs(commandId);
    },
    async printed(commandId, text) {
      const output = async () => (await session.logs(commandId)).output;
      await expect.poll(output, { timeout: PATIENCE_MS }).toContain(text);
    },
  };
  return session;
}
