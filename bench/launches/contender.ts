/** The three sides of a comparison with Docker, as what makes a place, runs a program there, and removes it. */
import { type Docker, IDLE, IMAGE } from '../base/docker.ts';
import type { Sandhaven } from '../base/sandhaven.ts';

export interface Contender {
  /** Resolves with the id of a place that is ready. */
  create(): Promise<string>;
  /** Rejects when the exit status is not 0. */
  run(id: string, command: readonly string[]): Promise<unknown>;
  remove(id: string): Promise<unknown>;
}

/** Words of a command must mean themselves to a shell. */
export function ofService(sandhaven: Sandhaven): Contender {
  return {
    create: () => sandhaven.create(),
    run: (id, command) => sandhaven.command(id, command.join(' ')),
    remove: (id) => sandhaven.remove(id),
  };
}

export function ofCommandLine({ cli }: Docker): Contender {
  return {
    create: () => cli('run', '-d', IMAGE, ...IDLE),
    run: (id, command) => cli('exec', id, ...command),
    remove: (id) => cli('rm', '-f', id),
  };
}

export function ofApi({ api }: Docker): Contender {
  return {
    create: () => api.run(IMAGE, IDLE),
    run: (id, command) => api.exec(id, [...command]),
    remove: (id) => api.remove(id),
  };
}
