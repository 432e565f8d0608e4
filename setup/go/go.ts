/** Finds a Go compiler: the machine's, else Debian's, unpacked and not installed. */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../command.ts';
import { downloadPackages, unpackPackages } from '../debian/packages.ts';

/** The newest minor version that a program built here asks for: Kubernetes, in its go.mod. */
const MINOR = 26;

/**
 * @param store Folder of the caller, who removes `go` in it after the build.
 * @returns the path of the program
 */
export async function findGo(store: string): Promise<string> {
  const unpacked = join(store, 'go');
  const inDebian = `usr/lib/go-1.${MINOR}/bin/go`;
  for (const go of ['go', '/usr/local/go/bin/go', join(unpacked, inDebian)]) {
    if (await isRecent(go)) return go;
  }
  console.log('go: fetching Debian’s compiler');
  const work = await mkdtemp(join(store, '.work-'));
  try {
    const names = [`golang-1.${MINOR}-go`, `golang-1.${MINOR}-src`];
    await mkdir(join(work, 'root'));
    await unpackPackages(await downloadPackages(work, 'sid', names), join(work, 'root'));
    await rm(unpacked, { recursive: true, force: true });
    await rename(join(work, 'root'), unpacked);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  const go = join(unpacked, inDebian);
  if (!(await isRecent(go))) throw new Error(`no Go of version 1.${MINOR} or later could be had`);
  return go;
}

async function isRecent(go: string): Promise<boolean> {
  const said = await command(go, ['version'], { env: { GOTOOLCHAIN: 'local' } }).catch(() => '');
  return Number(/ go1\.(\d+)/.exec(said)?.[1] ?? 0) >= MINOR;
}
