/**
 * The programs that people install most, in the base image and in three of Debian's own, from Debian's mirror. Those of a section
 * share a sandbox, one after the other: what they draw in is installed once, and a package that breaks apt breaks the next. A part
 * of `make test-deep PART=programs`.
 */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Registry, startRegistry } from '../../images/registry/registry.ts';
import { must, type Service, startService } from '../../support/service.ts';
import { debianLayer } from './debian-layer.ts';
import { installAndStart, makeSandbox, sections } from './program.ts';

const SUITES = ['bookworm', 'trixie', 'sid'];
/** They do not start yet, for the reasons in docs/internals/system-calls.md; tried, so that one which does is noticed. */
const FAILING: Record<string, string[]> = { sid: ['openssh-server'] };
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
    const names = sections().flatMap(({ programs }) => programs.map(({ packages }) => packages));
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(100);
  });
});

describe('in the base image', () => inSections(() => makeSandbox(service, {})));

describe.each(SUITES)('in an image of %s', (suite) => {
  const image = () => `${registry.address}/debian:${suite}`;

  beforeAll(async () => {
    await registry.push(`debian:${suite}`, { layers: [await debianLayer(suite)] });
    // That held the event loop for minutes: fetch has yet to see which connections the service closed meanwhile.
    await setTimeout(100);
  }, 20 * MINUTES);

  inSections(() => makeSandbox(service, { image: image() }), suite);
});

/** @param suite Its packages are not all of the list, as the base image's are. */
function inSections(make: () => Promise<string>, suite?: string): void {
  describe.concurrent.each(sections())('$title', ({ programs }) => {
    let sandbox: string | undefined;

    const remove = async () => {
      if (sandbox !== undefined) await must(service, 'DeleteSandbox', { sandbox });
      sandbox = undefined;
    };
    afterAll(remove, 2 * MINUTES);

    it.for(programs)('$packages', { concurrent: false }, async (program, context) => {
      sandbox ??= await withLists(await make());
      const lacks = suite !== undefined && !(await knows(sandbox, program.packages));
      if (lacks) context.skip(`${suite} has not all of ${program.packages}`);
      const [name = ''] = program.packages.split(' ');
      if (suite !== undefined && FAILING[suite]?.includes(name)) {
        await expect(installAndStart(service, sandbox, program)).rejects.toThrow(program.packages);
        return remove();
      }
      try {
        await installAndStart(service, sandbox, program);
        // All that it left running, so that it is in nobody's way; the shell too.
        await must(service, 'RunCommand', { sandbox, command: 'kill -KILL -1' });
      } catch (error) {
        // The next one begins anew: a fault is counted once.
        await remove();
        throw error;
      }
    });
  });
}

async function withLists(sandbox: string): Promise<string> {
  const update = { sandbox, command: 'apt-get update -qq', timeout_seconds: 300 };
  expect(await must(service, 'RunCommand', update)).toMatchObject({ exit_code: 0 });
  return sandbox;
}

async function knows(sandbox: string, packages: string): Promise<boolean> {
  const command = `apt-cache show --no-all-versions ${packages}`;
  return (await must(service, 'RunCommand', { sandbox, command }))['exit_code'] === 0;
}
