/** A program of the cluster that a test can kill and start again. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Room } from '../rooms/room.ts';

export interface Part {
  readonly isRunning: boolean;
  /** Ends it by SIGKILL, as a crash does, and resolves at its end. Nothing but `start` starts it again. */
  kill(): Promise<void>;
  /** Starts it with the same address and files. Throws when it runs. */
  start(): void;
}

/** Starts a program in a room. */
export function startPart(room: Room, argv: string[], logFile: string): Part {
  let child = room.start(argv, logFile);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    get isRunning() {
      return isRunning();
    },
    async kill() {
      while (isRunning()) {
        const pid = programOf(child);
        if (pid !== null) {
          const ended = once(child, 'exit');
          process.kill(pid, 'SIGKILL');
          await ended;
        }
        // The room's doorkeeper has not made the program yet, or has not seen its end.
        await delay(5);
      }
    },
    start() {
      if (isRunning()) throw new Error(`${argv[0]} runs already`);
      child = room.start(argv, logFile);
    },
  };
}

/** The program in the room is the child of the nsenter that brought it there. */
function programOf({ pid }: ChildProcess): number | null {
  try {
    const [first = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    return first === '' ? null : Number(first);
  } catch {
    return null;
  }
}
