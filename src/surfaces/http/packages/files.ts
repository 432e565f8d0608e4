/** Packages that the service gives to its users: clients of it, read once at the start. */
import { hash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';

export interface PackageFile {
  /** Such as `sandhaven-mcp-1.2.3.tgz`. */
  name: string;
  /** Name that stays the same in each version, such as `mcp.tgz`; null for none. */
  alias: string | null;
  body: Buffer;
  /** In hexadecimal digits. */
  sha256: string;
}

const PACKAGE = /^[a-z][\w.+-]*\.(?:tgz|whl)$/;
const OWN_NPM = /^sandhaven-([a-z]+)-\d[\w.+-]*(\.tgz)$/;

/** Returns them by name; none where they were not built. Rejects when they are larger than they can be. */
export async function readPackages(folder: string): Promise<PackageFile[]> {
  const found = await fs.readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const names = found.filter((name) => PACKAGE.test(name)).sort();
  if (names.length > limits.packages.files) throw tooLarge();
  const files: PackageFile[] = [];
  let bytes = 0;
  for (const name of names) {
    const body = await fs.readFile(join(folder, name));
    bytes += body.length;
    if (bytes > limits.packages.bytes) throw tooLarge();
    const alias = OWN_NPM.exec(name)?.slice(1).join('') ?? null;
    files.push({ name, alias, body, sha256: hash('sha256', body, 'hex') });
  }
  return files;
}

function tooLarge(): SandhavenError {
  return new SandhavenError('failed_precondition', 'The built packages have more files or bytes than fit.', {
    hint: 'Build them again with `make packages`.',
  });
}
