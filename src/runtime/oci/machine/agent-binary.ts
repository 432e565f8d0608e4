/**
 * Agent programs as immutable files named by digest: a new build never replaces one that a machine runs, and
 * applies at the machine's next start.
 */
import { createHash } from 'node:crypto';
import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commit, unlessMissing } from '../host/files.ts';

/** Returns the file name of the present agent. Removes all others; machines that run them are not affected. */
export async function installAgent(agentPath: string, agents: string): Promise<string> {
  const program = await readFile(agentPath);
  const name = createHash('sha256').update(program).digest('hex');
  const path = join(agents, name);
  if ((await unlessMissing(stat(path))) === null) {
    const partial = `${path}.partial`;
    await writeFile(partial, program);
    await chmod(partial, 0o755);
    await commit(partial, path);
  }
  for (const other of await readdir(agents)) {
    if (other !== name) await rm(join(agents, other));
  }
  return name;
}
