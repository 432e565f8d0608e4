/** A service under a service manager (manager.py), as systemd starts it: it may leave its sockets there for its next start. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Managed extends AsyncDisposable {
  /** Messages of the service so far. */
  said: readonly string[];
  /** Resolves once the service says that it serves. */
  start(): Promise<void>;
  /** Resolves with its exit status. */
  stop(): Promise<number>;
  /** Of the service, and of the manager. */
  log(): string;
}

const MANAGER = join(import.meta.dirname, 'manager.py');

export async function manage(program: string, args: readonly string[]): Promise<Managed> {
  const folder = await mkdtemp(join(tmpdir(), 'sandhaven-manager-'));
  const manager = spawn('python3', [MANAGER, join(folder, 'notify'), program, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  const waiting = new Set<(event: Event) => void>();
  let log = '';
  let runs = false;
  manager.stderr.on('data', (text) => {
    log += text;
  });
  createInterface({ input: manager.stdout }).on('line', (line) => {
    const event = JSON.parse(line) as Event;
    if (event.said !== undefined) said.push(event.said);
    if (event.ended !== undefined) runs = false;
    for (const look of waiting) look(event);
  });

  /** Rejects when the manager ends, or the service instead of what is waited for. */
  function next<T>(of: (event: Event) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = () => reject(new Error(`the manager has ended:\n${log}`));
      const look = (event: Event) => {
        const found = of(event);
        if (found === undefined && event.ended === undefined) return;
        waiting.delete(look);
        manager.off('exit', end);
        if (found === undefined) reject(new Error(`the service ended with ${event.ended}:\n${log}`));
        else resolve(found);
      };
      waiting.add(look);
      manager.once('exit', end);
    });
  }

  async function stop(): Promise<number> {
    const ended = next((event) => event.ended);
    manager.stdin.write('stop\n');
    return ended;
  }

  return {
    said,
    async start() {
      const ready = next((event) => (event.said?.startsWith('READY=1') ? true : undefined));
      manager.stdin.write('start\n');
      runs = true;
      await ready;
    },
    stop,
    log: () => log,
    async [Symbol.asyncDispose]() {
      if (runs) await stop();
      await ended(manager);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Event {
  said?: string;
  ended?: number;
}

function ended(manager: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (manager.exitCode !== null) return resolve();
    manager.once('exit', () => resolve());
    manager.stdin?.end();
  });
}
