/** A cluster leaves nothing behind, however the process that started it ends. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { takeSlot } from './rooms/slot.ts';

const START_TIMEOUT_MS = 100_000;

it('ends its programs when it is killed, and the next start removes its files', {
  timeout: 120_000,
}, async () => {
  const { folder, links, kill } = await startForeground();
  expect(programsOf(folder)).toEqual(
    expect.arrayContaining(['etcd', 'kube-apiserver', 'kubelet', 'kube-proxy', 'kube-scheduler']),
  );
  kill();
  await expect.poll(() => programsOf(folder), { timeout: 10_000 }).toEqual([]);
  await expect.poll(() => linksNow().filter((link) => links.includes(link)), { timeout: 10_000 }).toEqual([]);
  expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(folder);

  const next = await takeSlot(mkdtempSync(join(tmpdir(), 'sandhaven-cluster-')));
  await next.free();
  expect(existsSync(folder)).toBe(false);
  for (const link of links) expect(cgroupsOf(link)).toEqual([]);
});

/** Runs what `make cluster` runs, until it is ready. */
async function startForeground() {
  const before = linksNow();
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const line = await new Promise<string>((resolve, reject) => {
    setTimeout(() => reject(new Error('the cluster is not ready in time')), START_TIMEOUT_MS).unref();
    child.once('exit', () => reject(new Error('the cluster does not start')));
    createInterface({ input: child.stdout }).on('line', (text) => {
      if (text.startsWith('export KUBECONFIG=')) resolve(text);
    });
  });
  return {
    folder: dirname(dirname(line.slice('export KUBECONFIG='.length))),
    links: linksNow().filter((link) => !before.includes(link)),
    kill: () => child.kill('SIGKILL'),
  };
}

/** Names of the running programs that have a file of the folder among their arguments. */
function programsOf(folder: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .map((pid) => read(`/proc/${pid}/cmdline`).split('\0'))
    .filter(([program, ...args]) => program !== 'nsenter' && args.some((arg) => arg.includes(folder)))
    .map(([program = '']) => program.split('/').at(-1) ?? '');
}

function linksNow(): string[] {
  return readdirSync('/sys/class/net').filter((name) => /^shk\d+$/.test(name));
}

function cgroupsOf(name: string): string[] {
  return readdirSync('/sys/fs/cgroup')
    .map((hierarchy) => join('/sys/fs/cgroup', hierarchy, name))
    .filter((path) => existsSync(path));
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
