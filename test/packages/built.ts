/** Packages of this checkout, made for the tests. `make build image` has run before. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeBaseImagePackage } from '../../setup/debian/package/base-image-package.ts';
import { type Made, makeServicePackage } from '../../setup/debian/package/service-package.ts';
import { type Processor, processors } from '../../setup/processors/processor.ts';
import { sbomOfService } from '../../setup/sbom/service-package.ts';
import { version } from '../../src/home.ts';

const execute = promisify(execFile);
const home = join(import.meta.dirname, '../..');

/** A time of no meaning, in 2026. */
const EPOCH = 1_780_000_000;

export interface Built extends AsyncDisposable {
  /** Makes the package of the service once more, elsewhere. @returns its path */
  service(processor?: Processor): Promise<string>;
  baseImage(): Promise<string>;
  /** The list of parts, as text. */
  parts(): Promise<string>;
}

export async function packages(): Promise<Built> {
  const folder = await mkdtemp(join(tmpdir(), 'sandhaven-built-'));
  const make = async (
    work: (folder: string, made: Made) => Promise<string>,
    processor: Processor = processors.x64,
  ): Promise<string> => {
    const dist = await mkdtemp(join(folder, 'dist-'));
    const staging = await mkdtemp(join(folder, 'work-'));
    return work(staging, { home, dist, version, epoch: EPOCH, processor });
  };
  return {
    service: (processor) => make(makeServicePackage, processor),
    baseImage: () => make(makeBaseImagePackage),
    parts: () => make((_, made) => sbomOfService(made)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Fields of the control file. */
export async function fieldOf(file: string, field: string): Promise<string> {
  return (await execute('dpkg-deb', ['--field', file, field])).stdout.trim();
}

/** Modes, owners, sizes, times and paths, as tar shows them. */
export async function contentsOf(file: string): Promise<string[]> {
  const { stdout } = await execute('dpkg-deb', ['--contents', file], { maxBuffer: 64 << 20 });
  return stdout.trim().split('\n');
}

/** @returns all that lintian has to say of errors and warnings; empty when there are none. */
export async function complaintsOf(file: string): Promise<string> {
  const argv = ['--allow-root', '--fail-on', 'error,warning', '--tag-display-limit', '0', file];
  return execute('lintian', argv).then(
    ({ stdout }) => stdout,
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
}
