/** Frameworks that reach sandboxes by E2B's client for Python, unmodified, against a real service. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Registry, startRegistry } from '../../images/registry/registry.ts';
import { debianLayer } from '../../programs/debian/debian-layer.ts';
import { pythonOf } from '../clients/installed.ts';
import { type NamedService, startNamedService } from '../e2b/service.ts';
import { fetchSuite, filesOf } from '../suites/run.ts';

const LIMIT_MS = 300_000;

let place: NamedService | undefined;
let registry: Registry | undefined;

/** In place of the image that a task names, a Debian with Python under its name. */
beforeAll(async () => {
  registry = await startRegistry();
  await registry.push('library/python:3.13-slim', {
    layers: [await debianLayer('trixie', 'ca-certificates,python3')],
  });
  place = await startNamedService(['--registry-mirror', `docker.io=${registry.address}`]);
}, 300_000);

afterAll(async () => {
  await place?.stop();
  await registry?.remove();
});

/** Returns the last line of what the program says. */
async function lastLineOf(
  args: string[],
  more: NodeJS.ProcessEnv = {},
  packages = 'e2b-frameworks',
): Promise<string> {
  const options = { env: { ...place?.env, ...more }, cwd: import.meta.dirname, maxBuffer: 1 << 24 };
  const { stdout, stderr, code } = await promisify(execFile)(pythonOf(packages), ['-B', ...args], options)
    .then((said) => ({ ...said, code: 0 }))
    .catch((error: { stdout: string; stderr: string; code: number }) => error);
  // A program that fails says why in its last lines.
  return (code === 0 ? stdout : stdout + stderr).trim().split('\n').at(-1) ?? '';
}

it.each(['smolagents', 'openai_agents'])(
  'the agent of %s does its task, as its model tells it',
  async (name) => {
    expect(await lastLineOf([join(import.meta.dirname, `${name}_task.py`)])).toBe('done');
  },
  LIMIT_MS,
);

it(
  'a task of verifiers is done in a template of its image',
  async () => {
    const task = join(import.meta.dirname, 'verifiers_task.py');
    // Its templates have locks in the folder of the user.
    const home = await mkdtemp(join(tmpdir(), 'verifiers-'));
    expect(await lastLineOf([task], { HOME: home }, 'e2b-verifiers')).toBe('done');
    await rm(home, { recursive: true });
  },
  LIMIT_MS,
);

// On no registry: its files come as those of the public suites do.
it('a task of NeMo Gym is done in sandboxes of its provider, by addresses alone', {
  timeout: LIMIT_MS,
}, async ({ skip }) => {
  const files = 'nemo-gym-07a53cf';
  const missing = fetchSuite({ files });
  if (missing !== null) return skip(missing);
  const env = {
    E2B_API_URL: `${place?.url}/e2b/api`,
    E2B_SANDBOX_URL: `${place?.url}/e2b/sandbox`,
    PYTHONPATH: filesOf(files),
  };
  expect(await lastLineOf([join(import.meta.dirname, 'nemo_gym_task.py')], env)).toBe('done');
});

it(
  'LangChain’s standard tests of sandboxes all pass, by its backend for E2B',
  async () => {
    const options = ['-q', '-p', 'no:cacheprovider', '-W', 'ignore', '--asyncio-mode=auto'];
    const file = join(import.meta.dirname, 'test_langchain_e2b.py');
    expect(await lastLineOf(['-m', 'pytest', ...options, file])).toMatch(/^86 passed(, \d+ warnings?)? in /);
  },
  LIMIT_MS,
);
