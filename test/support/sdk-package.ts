/** The SDK as it is published: built, packed and installed without a network. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');
export const sdk = join(root, 'sdk');
export const tsc = join(root, 'node_modules', '.bin', 'tsc');

export interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Asynchronous, since what it talks to may live in this process. */
export function run(
  command: string,
  args: string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Ran> {
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
  const child = spawn(command, args, { cwd, env: { ...process.env, PATH, ...env } });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, ...output }));
  });
}

export async function succeeds(command: string, args: string[], cwd: string): Promise<string> {
  const { status, stdout, stderr } = await run(command, args, cwd);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

let built: Promise<void> | null = null;

/** Into sdk/dist, from nothing, so that no file of an earlier build is shipped; once for all files of a worker. */
export function buildSdk(): Promise<void> {
  built ??= build();
  return built;
}

async function build(): Promise<void> {
  await rm(join(sdk, 'dist'), { recursive: true, force: true });
  await succeeds(process.execPath, [tsc, '-p', 'tsconfig.json'], sdk);
}

/** A folder with the built package installed in it; the caller removes it. */
export async function installSdk(): Promise<string> {
  await buildSdk();
  const folder = await mkdtemp(join(tmpdir(), 'sandhaven-sdk-'));
  const packed = await succeeds('npm', ['pack', '--json', '--pack-destination', folder], sdk);
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await succeeds('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], folder);
  return folder;
}
