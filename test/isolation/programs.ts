/** The Python programs in `programs/`, which run in a sandbox and, to compare, on the host itself. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { call, must, type Service } from '../support/service.ts';

export interface Programs {
  /** What the program printed, or had printed when it was ended. */
  inside(sandbox: string, program: string, ...args: (string | number)[]): Promise<string>;
  /** As a user of the host: 0 is root. */
  onHost(uid: number, program: string, ...args: (string | number)[]): Promise<string>;
}

const TIMEOUT_SECONDS = 60;
const run = promisify(execFile);

/** @param timeoutSeconds Of a program inside. */
export function createPrograms(
  service: Pick<Service, 'url' | 'apiKey'>,
  timeoutSeconds = TIMEOUT_SECONDS,
): Programs {
  return {
    async inside(sandbox, program, ...args) {
      const content = readFileSync(path(program), 'utf8');
      await must(service, 'WriteFile', { sandbox, path: `/workspace/${program}.py`, content });
      const command = ['ulimit -n $(ulimit -Hn); python3', `/workspace/${program}.py`, ...args].join(' ');
      const { body } = await call(service, 'RunCommand', {
        sandbox,
        command,
        timeout_seconds: timeoutSeconds,
      });
      return String(body['output'] ?? '');
    },
    async onHost(uid, program, ...args) {
      const ids = ['--reuid', String(uid), '--regid', String(uid), '--clear-groups'];
      const source = readFileSync(path(program), 'utf8');
      // Not by its path: a user of the host may not be let into this folder.
      const { stdout } = await run('setpriv', [
        ...ids,
        '/usr/bin/python3',
        '-c',
        source,
        ...args.map(String),
      ]);
      return stdout;
    },
  };
}

function path(program: string): string {
  return new URL(`./programs/${program}.py`, import.meta.url).pathname;
}
