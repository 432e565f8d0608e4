/** Runs real helper programs for tests of images, without the engine's fence around them. */
import { spawn } from 'node:child_process';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { NATIVE } from '../../src/app/engine/installed.ts';
import { parseAllowedImages, type RegistryRules } from '../../src/model/registries.ts';
import { createExit } from '../../src/outbound/exit.ts';
import type { Gates } from '../../src/runtime/images/registry/gate.ts';
import type { Helpers } from '../../src/runtime/images/registry/helpers.ts';

export const unpackPath = join(NATIVE, 'sandhaven-unpack');

export function gatesIn(folder: string, exit = createExit()): Gates {
  return { exit, launcherPath: join(NATIVE, 'sandhaven-launcher'), folder: join(folder, 'gates') };
}

/** Rules of an operator who has named these registries beside all others. */
export function naming(...registries: string[]): RegistryRules {
  const text = ['all', ...registries].join(',');
  return { mirrors: [], allowed: parseAllowedImages('--registry-allow', text) };
}

/** `programs` collects the names of what was run, in order. */
export function createTestHelpers(
  programs: string[] = [],
  environment: Record<string, string> = {},
): Helpers {
  return {
    run(program, args, { timeoutMs, signal, env, onLine }) {
      programs.push(`${basename(program)} ${args[0] ?? ''}`);
      return new Promise((resolve, reject) => {
        const child = spawn(program, args, {
          stdio: ['ignore', 'pipe', 'pipe'],
          detached: true,
          env: { ...process.env, ...environment, ...env },
        });
        if (onLine) createInterface({ input: child.stdout }).on('line', onLine);
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
