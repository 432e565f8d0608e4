/** The public suites of other products' clients, unmodified, against a real service: no test fails that expected.md has not. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { put, startRegistry } from '../../images/registry/registry.ts';
import { debianLayer } from '../../programs/debian/debian-layer.ts';
import { startService } from '../../support/service.ts';
import { clientEnvironment } from '../daytona/programs.ts';
import { startNamedService } from '../e2b/service.ts';
import { compare, expectedOf } from './expected.ts';
import { lendRepository } from './github.ts';
import { daytonaSuites, e2bSuites, fetchSuite, type Suite } from './run.ts';

const LIMIT_MS = 1_200_000;
const document = readFileSync(join(import.meta.dirname, '../expected.md'), 'utf8');

interface Place {
  env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

const PYTHON = 'build-essential,ca-certificates,gfortran,python-is-python3,python3-numpy,python3-pip';
/** The packages that the image has are found without an index. */
const PIP = '[global]\nno-index = true\nbreak-system-packages = true\n';

/** In place of the image that theirs begin with, a Debian under its name. */
async function forDaytona(): Promise<Place> {
  const registry = await startRegistry();
  const withPip = (folder: string) => put(folder, 'etc/pip.conf', PIP);
  const layers = [await debianLayer('bookworm', PYTHON), withPip];
  await registry.push('library/python:3.12.10-slim-bookworm', { layers });
  const mirror = ['--registry-mirror', `docker.io=${registry.address}`];
  const service = await startService({ flags: ['--compat', 'daytona', ...mirror] });
  const lent = await lendRepository(service);
  return {
    env: clientEnvironment(lent.lender),
    async stop() {
      lent.close();
      await service.stop();
      await registry.remove();
    },
  };
}

/** In place of an image from elsewhere that templates begin with, a Debian under its name. */
async function forE2b(): Promise<Place> {
  const registry = await startRegistry();
  await registry.push('library/ubuntu:22.04', { layers: [await debianLayer('bookworm', '')] });
  const service = await startNamedService(['--registry-mirror', `docker.io=${registry.address}`]);
  return {
    env: service.env,
    async stop() {
      await service.stop();
      await registry.remove();
    },
  };
}

describe.each([
  ['Daytona', daytonaSuites, forDaytona],
  ['E2B', e2bSuites, forE2b],
])('the public suite of %s', (_product, suites, start) => {
  const runs = Object.entries(suites).map(([name, suite]) => [name, suite, fetchSuite(suite)] as const);
  let place: Place | undefined;

  beforeAll(async () => {
    if (runs.some(([, , missing]) => missing === null)) place = await start();
  }, 300_000);

  afterAll(() => place?.stop());

  it.for<readonly [string, Suite, string | null]>(runs)(
    'passes as far as expected.md says: %s',
    { timeout: LIMIT_MS },
    async ([name, suite, missing], { skip }) => {
      if (missing !== null || !place) return skip(missing ?? '');
      const outcomes = await suite.run(place.env);
      const { worse, better } = compare(expectedOf(document, name), outcomes);
      const passed = Object.values(outcomes).filter((outcome) => outcome === 'passes').length;
      console.info(`${name}: ${passed} of ${Object.keys(outcomes).length} pass`);
      if (better.length > 0) console.info(`pass now, and can leave expected.md: ${better.join(', ')}`);
      expect(worse).toEqual({});
    },
  );
});
