/** Other people's MCP tools in a project of their own (mcp-tools/), installed when a test first needs them. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

export const toolsFolder = join(import.meta.dirname, 'mcp-tools');

export interface Run {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Does nothing when what is installed is what the lock file says. */
export async function installTools(): Promise<void> {
  const [wanted, installed] = await Promise.all(
    ['package-lock.json', 'node_modules/.package-lock.json'].map(modifiedMs),
  );
  if (installed && wanted && installed >= wanted) return;
  const { status, stderr } = await run('npm', ['ci', '--ignore-scripts'], toolsFolder);
  if (status !== 0) throw new Error(`npm ci failed: ${stderr}`);
}

/** Runs a package's program on this Node, with an empty home folder. */
export async function runTool(program: string, args: string[]): Promise<Run> {
  const home = await mkdtemp(join(tmpdir(), 'sandhaven-mcp-tool-'));
  try {
    return await run(process.execPath, [join(toolsFolder, 'node_modules', program), ...args], home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Asynchronous, since the server that the tool talks to may live in this process. */
function run(command: string, args: string[], cwd: string): Promise<Run> {
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
  const child = spawn(command, args, { cwd, env: { ...process.env, PATH, HOME: cwd } });
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

async function modifiedMs(file: string): Promise<number | null> {
  try {
    return (await stat(join(toolsFolder, file))).mtimeMs;
  } catch {
    return null;
  }
}
