/** Runs a program to its end, by the spawner once the engine has one: process-wide, as the memory is that it spares. */
import { direct } from './direct.ts';
import type { ProgramOptions, Runner, RunningProgram } from './runner.ts';

let runner: Runner = direct;

/** From now on all programs are run by this one; null for this process itself. */
export function useRunner(other: Runner | null): void {
  runner = other ?? direct;
}

export function runProgram(file: string, args: string[], options: ProgramOptions): RunningProgram {
  return runner.run(file, args, options);
}
