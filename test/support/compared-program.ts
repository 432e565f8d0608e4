/** The programs of docs/compare-clients.md, run as they stand there. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { root, run } from './sdk-package.ts';

interface Compared {
  /** Heading of the program. */
  client: 'Sandhaven' | 'Daytona';
  /** A folder in which its import is found. */
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Name of the installed package, where that is another. */
  installed?: [named: string, installed: string];
}

/** Returns what the program prints, line by line. */
export async function linesOfCompared({ client, folder, env, installed }: Compared): Promise<string[]> {
  const page = readFileSync(join(root, 'docs/compare-clients.md'), 'utf8');
  const [, source] = new RegExp(`^## ${client}\\n[^]*?^\`\`\`js\\n([^]*?)^\`\`\``, 'm').exec(page) ?? [];
  if (source === undefined) throw new Error(`the page has no program of ${client}`);
  const file = join(folder, `compared-${process.pid}.mjs`);
  writeFileSync(file, installed ? source.replace(...installed) : source);
  onTestFinished(() => rmSync(file, { force: true }));
  const { status, stdout, stderr } = await run(
    process.execPath,
    [file],
    folder,
    env as Record<string, string>,
  );
  if (status !== 0) throw new Error(`the program ended with ${status}: ${stderr}`);
  return stdout.split('\n');
}
