/**
 * A program of the cluster that a test can kill and start again. One that ends by itself starts again, as the kubelet or
 * systemd has it: a scheduler, for example, exits when its view of a Pod and the API server's differ.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Room } from '../rooms/room.ts';

export interface Part {
  readonly isRunning: boolean;
  /** As the host numbers it; null while there is none. */
  readonly pid: number | null;
  /** Ends it by SIGKILL, as a crash does, and resolves at its end. Nothing but `start` starts it again. */
  kill(): Promise<void>;
  /** Starts it with the same address and files. Throws when it runs. */
  start(): void;
}

/** Pause before a program that ended by itself starts again. */
const RESTART_MS = 1_000;

/** Starts a program in a room. */
export function startPart(room: Room, argv: string[], logFile: string): Part {
  let isWanted = true;
  let child = begin();
  function begin(): ChildProcess {
    const begun = room.start(argv, logFile);
    const again = () => {
      if (isWanted && room.isOpen && child === begun) child = begin();
    };
    return begun.once('exit', () => setTimeout(again, RESTART_MS).unref());
  }
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    get isRunning() {
      return isRunning();
    },
    get pid() {
      return programOf(child);
    },
    async kill() {
      isWanted = false;
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
      isWanted = true;
      child = begin();
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
