/**
 * The programs that people install most, in the base image and in three of Debian's own, from Debian's mirror. Each has a new
 * sandbox: apt fails for good after one package that does not install. A part of `make test-deep PART=programs`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Registry, startRegistry } from '../../images/registry/registry.ts';
import { must, type Service, startService } from '../../support/service.ts';
import { debianLayer } from './debian-layer.ts';
import { installAndStart, makeSandbox, programs } from './program.ts';

const SUITES = ['bookworm', 'trixie', 'sid'];
const MINUTES = 60_000;

let registry: Registry;
let service: Service;

beforeAll(async () => {
  registry = await startRegistry();
  service = await startService({ flags: ['--registry-allow', `all,${registry.address}`] });
}, 2 * MINUTES);

afterAll(async () => {
  await service?.stop();
  await registry?.remove();
}, 2 * MINUTES);

describe('the list', () => {
  it('has a hundred programs, none of them twice', () => {
    const names = programs().map(({ packages }) => packages);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(100);
  });
});

describe('in the base image', () => {
  it.concurrent.each(programs())('$packages', async (program) => {
    await inNewSandbox({}, (sandbox) => installAndStart(service, sandbox, program));
  });
});

describe.each(SUITES)('in an image of %s', (suite) => {
  beforeAll(async () => {
    await registry.push(`debian:${suite}`, { layers: [await debianLayer(suite)] });
  }, 20 * MINUTES);

  it.concurrent.for(programs())('$packages', async (program, context) => {
    await inNewSandbox({ image: `${registry.address}/debian:${suite}` }, async (sandbox) => {
      const command = `apt-cache show --no-all-versions ${program.packages}`;
      const known = await must(service, 'RunCommand', { sandbox, command });
      if (known['exit_code'] !== 0) context.skip(`${suite} has not all of ${program.packages}`);
      await installAndStart(service, sandbox, program);
    });
  });
});

/** With apt's lists. */
async function inNewSandbox(image: object, work: (sandbox: string) => Promise<void>): Promise<void> {
  const sandbox = await makeSandbox(service, { ...image });
  try {
    const update = { sandbox, command: 'apt-get update -qq', timeout_seconds: 300 };
    expect(await must(service, 'RunCommand', update)).toMatchObject({ exit_code: 0 });
    await work(sandbox);
  } finally {
    await must(service, 'DeleteSandbox', { sandbox });
  }
}
