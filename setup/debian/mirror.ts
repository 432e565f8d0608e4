/**
 * Finds the Debian mirror that this machine's own apt uses, so that a machine behind a company's mirror
 * fetches everything from there and the project names no host.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface DebianMirror {
  archiveUri: string;
  securityUri: string;
}

/** Returns null when apt has no Debian sources (or has not fetched their lists), or only non-HTTP ones. */
export async function debianMirror(): Promise<DebianMirror | null> {
  const release = await readFile('/etc/os-release', 'utf8');
  const codename = /^VERSION_CODENAME=(\S+)$/m.exec(release)?.[1];
  const format = '$(ORIGIN) $(RELEASE) $(COMPONENT) $(REPO_URI)';
  const { stdout } = await run('apt-get', ['indextargets', '--format', format, 'Identifier: Packages']);
  const rows = stdout.split('\n').map((line) => line.split(' '));
  const uriOf = (suite: string) =>
    rows.find(
      ([origin, name, component]) => origin === 'Debian' && name === suite && component === 'main',
    )?.[3];
  const archiveUri = uriOf(`${codename}`);
  const securityUri = uriOf(`${codename}-security`);
  return isPlainHttp(archiveUri) && isPlainHttp(securityUri) ? { archiveUri, securityUri } : null;
}

/** Returns the lines of a sources.list for a stable suite with its updates. */
export function sourcesOf({ archiveUri, securityUri }: DebianMirror, suite: string, options = ''): string[] {
  return [
    `deb ${options}${archiveUri} ${suite} main`,
    `deb ${options}${archiveUri} ${suite}-updates main`,
    `deb ${options}${securityUri} ${suite}-security main`,
  ];
}

/** The address ends up in every sandbox's sources.list, so it must hold no credentials. */
function isPlainHttp(uri: string | undefined): uri is string {
  return uri !== undefined && /^https?:\/\/[^\s@[\]]+$/.test(uri);
}
