/**
 * Runs a program to its end, through the spawner once the runtime has one, or sends messages to the firewall without a program. One
 * runner serves the whole process.
 */
import { direct } from './direct.ts';
import type { ProgramOptions, Runner, RunningProgram } from './runner.ts';

let runner: Runner = direct;

/** Runs all later programs through this runner; null for this process itself. */
export function useRunner(other: Runner | null): void {
  runner = other ?? direct;
}

export function runProgram(file: string, args: string[], options: ProgramOptions): RunningProgram {
  return runner.run(file, args, options);
}

/** Sends netfilter's messages and resolves to the kernel's answers; null where the runner cannot, and a program has to. */
export function sendNetfilter(messages: Buffer): Promise<Buffer> | null {
  return runner.netfilter?.(messages) ?? null;
}
