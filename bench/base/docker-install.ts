/** Installs the Debian packages of a Docker engine where they are missing. None of their services is started. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './command.ts';
import { home } from './machine.ts';

export async function installDocker(): Promise<void> {
  if (!(await isOnPath('dockerd'))) await install('docker.io');
  // Debian 12's engine brings the command line, Debian 13's does not.
  if (!(await isOnPath('docker'))) await install('docker-cli');
}

function install(name: string): Promise<string> {
  return run(join(home, 'setup/locked.sh'), [join(home, 'setup/apt.sh'), name]);
}

async function isOnPath(program: string): Promise<boolean> {
  const folders = (process.env['PATH'] ?? '').split(':');
  const found = folders.map((folder) =>
    access(join(folder, program), constants.X_OK).then(
      () => true,
      () => false,
    ),
  );
  return (await Promise.all(found)).includes(true);
}
