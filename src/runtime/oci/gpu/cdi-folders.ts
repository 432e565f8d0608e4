/**
 * Specifications of this host, from the folders of CDI. A specification makes devices and files of the host appear
 * in sandboxes, so one counts only when root alone could have written it; broken and untrusted ones are reported
 * as problems and otherwise ignored.
 */
import { constants, type Stats } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../../../model/limits.ts';
import { unlessMissing } from '../host/files.ts';
import { type CdiEdits, parseCdiSpec } from './cdi-spec.ts';

/** Folders of specifications; for a device in both, the later folder wins. */
export const cdiFolders = ['/etc/cdi', '/var/run/cdi'];

export interface CdiDevice {
  name: string;
  /** Edits of its whole specification, applied before its own. */
  common: CdiEdits;
  own: CdiEdits;
}

export interface CdiDevices {
  devices: CdiDevice[];
  /** Messages for the operator: a file and its error. */
  problems: string[];
}

/** Returns every device of the kind. */
export async function readCdiDevices(folders: string[], kind: string): Promise<CdiDevices> {
  const devices = new Map<string, CdiDevice>();
  const problems: string[] = [];
  for (const folder of folders) {
    const seen = new Set<string>();
    for (const file of await specFiles(folder, problems)) {
      try {
        const spec = parseCdiSpec(await readDocument(file));
        if (spec.kind !== kind) continue;
        for (const [name, own] of spec.devices) {
          // Two of equal rank: neither is used.
          if (seen.has(name)) {
            devices.delete(name);
            problems.push(`${file}: device ${name} is in another specification of the folder too`);
          } else {
            devices.set(name, { name, common: spec.edits, own });
          }
          seen.add(name);
        }
      } catch (error) {
        problems.push(`${file}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
  return { devices: [...devices.values()].toSorted(byName), problems };
}

/** Changes when any specification may have changed. */
export async function fingerprint(folders: string[]): Promise<string> {
  const files = (await Promise.all(folders.map((folder) => specFiles(folder, [])))).flat();
  const facts = await Promise.all(
    files.map(async (file) => {
      const found = await unlessMissing(stat(file, { bigint: true }));
      return found && [file, found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
    }),
  );
  return facts.join('\n');
}

async function specFiles(folder: string, problems: string[]): Promise<string[]> {
  const found = await unlessMissing(stat(folder));
  if (found === null) return [];
  if (!rootOnly(found)) {
    problems.push(`${folder}: writable by users other than root`);
    return [];
  }
  const names = (await readdir(folder)).filter((name) => /\.(?:json|ya?ml)$/.test(name)).toSorted();
  if (names.length > limits.cdi.specs) {
    problems.push(`${folder}: more than ${limits.cdi.specs} specifications, the rest is not read`);
  }
  return names.slice(0, limits.cdi.specs).map((name) => join(folder, name));
}

async function readDocument(file: string): Promise<unknown> {
  const text = await readTrusted(file);
  if (file.endsWith('.json')) return JSON.parse(text);
  // Loaded only on hosts with a YAML specification.
  const { parse } = await import('yaml');
  return parse(text, { maxAliasCount: 0, prettyErrors: false, logLevel: 'error' });
}

/** Reads the same open file whose owner and mode it checked, even if its name moves meanwhile. */
async function readTrusted(file: string): Promise<string> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(file, flags).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ELOOP' ? new Error('it is a symbolic link') : error;
  });
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new Error('it is not a regular file');
    if (!rootOnly(found)) throw new Error('it is writable by users other than root');
    const buffer = Buffer.alloc(limits.cdi.specBytes + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
      length += bytesRead;
      if (length > limits.cdi.specBytes) throw new Error(`it is over ${limits.cdi.specBytes} bytes`);
      if (bytesRead === 0) return buffer.toString('utf8', 0, length);
    }
  } finally {
    await handle.close();
  }
}

function rootOnly({ uid, mode }: Stats): boolean {
  return uid === 0 && (mode & 0o022) === 0;
}

function byName(a: CdiDevice, b: CdiDevice): number {
  return a.name.localeCompare(b.name, 'en', { numeric: true });
}
