/** A PostgreSQL server of a test: nothing of it stays when the test's process is killed, or when its start fails. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startPostgres } from './server.ts';

const holder = join(import.meta.dirname, 'server-holder.ts');
const foldersOf = (pid: number | undefined) => globSync(`/tmp/sandhaven-postgres-${pid}-*`);

it('ends with the process that started it, and the next start removes its folder', async () => {
  const owner = spawn(process.execPath, [holder], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void owner.kill('SIGKILL'));
  const port = Number(String(await once(owner.stdout, 'data')));
  expect(await listens(port)).toBe(true);
  owner.kill('SIGKILL');
  await once(owner, 'close');
  await expect.poll(() => listens(port), { timeout: 10_000 }).toBe(false);
  expect(foldersOf(owner.pid)).toHaveLength(1);
  const next = await startPostgres();
  onTestFinished(() => next.stop());
  expect(foldersOf(owner.pid)).toEqual([]);
  expect(foldersOf(process.pid)).toHaveLength(1);
});

it('leaves no folder when it cannot start', () => {
  // No file can be as large as those of a new database.
  const { pid, status } = spawnSync('prlimit', ['--fsize=100000', process.execPath, holder]);
  expect(status).not.toBe(0);
  expect(foldersOf(pid)).toEqual([]);
});

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
