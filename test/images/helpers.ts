/** Runs real helper programs for tests of images, without the engine's fence around them. */
import { spawn } from 'node:child_process';
import type { Helpers } from '../../src/runtime/images/helpers.ts';

/** `programs` collects the names of what was run, in order. */
export function createTestHelpers(programs: string[] = []): Helpers {
  return {
    run(program, args, { timeoutMs, signal }) {
      programs.push(`${program} ${args[0] ?? ''}`);
      return new Promise((resolve, reject) => {
        const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
        let stdout = '';
        let stderr = '';
        const end = (): void => {
          if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
        };
        if (signal?.aborted) end();
        signal?.addEventListener('abort', end);
        const timer = setTimeout(end, timeoutMs);
        child.stdout.on('data', (chunk) => {
          stdout += chunk;
        });
        child.stderr.on('data', (chunk) => {
          stderr += chunk;
        });
        child.on('close', (exitCode) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', end);
          if (exitCode === 0) resolve(stdout);
          else
            reject(
              Object.assign(new Error(`${program} ended with ${exitCode}: ${stderr}`), { exitCode, stderr }),
            );
        });
      });
    },
  };
}
