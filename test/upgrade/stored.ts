/** Data directories of earlier versions, and their agents. */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { machine } from 'node:os';
import { join } from 'node:path';
import { shellLayer } from '../images/shell-image.ts';

const STORED = join(import.meta.dirname, 'stored');
const HOME = join(import.meta.dirname, '..', '..');
const NATIVE = `native/target/${machine()}-unknown-linux-gnu/release`;

export const storedVersions = readdirSync(STORED).map((name) => name.replace('.tar.zst', ''));

export function unpackStored(version: string, folder: string): void {
  const archive = join(STORED, `${version}.tar.zst`);
  execFileSync('tar', ['--extract', '--numeric-owner', '--xattrs', '--file', archive, '--directory', folder]);
  for (const rootfs of globSync(join(folder, 'images/*/rootfs'))) fillImage(rootfs);
}

/**
 * Makes a checkout of this service with the agent of an earlier version.
 * @param dataDir Unpacked of that version.
 * @returns its command.
 */
export function withAgentOf(dataDir: string, folder: string): string {
  for (const name of ['bin', 'src', 'package.json'])
    cpSync(join(HOME, name), join(folder, name), { recursive: true });
  symlinkSync(join(HOME, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, NATIVE), { recursive: true });
  for (const name of ['sandhaven-egress', 'sandhaven-launcher', 'sandhaven-unpack'])
    cpSync(join(HOME, NATIVE, name), join(folder, NATIVE, name));
  const [agent] = globSync(join(dataDir, 'agents/*'));
  if (agent === undefined) throw new Error(`${dataDir} has no agent`);
  cpSync(agent, join(folder, NATIVE, 'sandhaven-agent'));
  return join(folder, 'bin/sandhaven');
}

/** The image's own folders and programs: these are in no repository, and the base image has them. */
function fillImage(rootfs: string): void {
  for (const name of ['etc', 'proc', 'dev', 'sys', 'run', 'tmp', 'workspace'])
    mkdirSync(join(rootfs, name), { recursive: true });
  shellLayer(rootfs);
}
