/** Services in memory with something on every screen; what sandboxes really do is tested with real ones. */
import type { Services } from '../../../src/control/services.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import type { Caller } from '../../../src/model/user.ts';
import type { FakePeopleOptions } from '../../surfaces/fakes/fake-people.ts';
import { createFakeServices, type FakeServices, user } from '../../surfaces/fakes/fake-services.ts';
import { fakeTree, type Tree } from './file-tree.ts';
import { TerminalRack } from './terminal-rack.ts';

/** A picture of 8 by 8 points. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAFElEQVR4nGNkaGj4z4AXMOGXHhkKAHTwAhGl7hRVAAAAAElFTkSuQmCC';

/** A name that would be a script where names become HTML. */
export const HOSTILE_NAME = '<img src=x onerror=document.title=1>.md';

export interface World {
  services: Services;
  sandboxes: Map<string, Sandbox>;
  tree: Tree;
  rack: TerminalRack;
  reportNetwork: FakeServices['reportNetwork'];
}

/** @param count Sandboxes beside the one named demo; none at all for null. */
export async function createWorld(count: number | null, people: FakePeopleOptions = {}): Promise<World> {
  const fake = createFakeServices(people);
  const tree = files();
  const rack = new TerminalRack();
  Object.assign(fake.services, {
    ...{ files: fakeTree(tree), execution: execution(fake.services.execution), terminals: rack.service() },
    // As without a preview gateway; `serveFilePreviews` puts a real one in its place.
    filePreviews: {
      create: async () => {
        throw new SandhavenError('unavailable', 'This service has no preview gateway.');
      },
    },
  });
  await fake.services.snapshots.create(user, { name: 'postgres-17', image: 'postgres:17' } as never);
  await fake.services.snapshots.create(user, { name: 'team base', image: 'debian:13' } as never);
  const { snapshots } = await fake.services.snapshots.list(user, { page: 1, pageSize: 10 });
  Object.assign(snapshots[0] ?? {}, {
    state: 'active',
    sizeBytes: 412_000_000,
    createdAt: Date.now() - 86_400_000,
  });
  if (count !== null) {
    for (let number = count; number > 0; number--)
      await addSandbox(fake.services, `worker-${number}`, number);
    await addSandbox(fake.services, 'demo', 0);
  }
  const { services, sandboxes, reportNetwork } = fake;
  return { services, sandboxes, tree, rack, reportNetwork };
}

const states = ['started', 'started', 'stopped', 'archived', 'error'] as const;

/** @returns its id. */
export async function addSandbox(
  services: Services,
  name: string,
  number: number,
  owner: Caller = user,
): Promise<string> {
  const now = Date.now();
  const made = await services.sandboxes.create(owner, {
    ...{ name, language: 'python', labels: labelsOf(number), envVars: { MODE: 'test', API_KEY: 'x' } },
    ...{ cpu: 1 + (number % 8), memory: 2 + (number % 16), disk: 20, gpu: 0 },
    ...{ ephemeral: number % 13 === 5, autoStopMinutes: number % 11 === 3 ? 0 : 15 + number },
  } as never);
  const state = states[number % states.length] ?? 'started';
  Object.assign(made, {
    state,
    stateReason: state === 'error' ? 'The start failed: the disk image is damaged.' : null,
    createdAt: now - number * 3_600_000,
    lastActivityAt: now - (number % 14) * 60_000,
    startedAt: now - 7_200_000,
  });
  return made.id;
}

function labelsOf(number: number): Record<string, string> {
  if (number === 0) return { team: 'research', purpose: 'a demonstration of labels' };
  if (number % 3 === 0) return { team: number % 2 === 0 ? 'ml' : 'web' };
  return {};
}

function execution(base: Services['execution']): object {
  const chart = {
    ...{
      type: 'line',
      title: 'Sales',
      x_label: 'month',
      y_label: 'EUR',
      x_scale: 'linear',
      y_scale: 'linear',
    },
    ...{ elements: [{ label: 'north', points: [[1, 2]] }], png: PNG },
  };
  return {
    runCommand: base.runCommand.bind(base),
    runCode: async (...given: Parameters<typeof base.runCode>) => {
      const { code } = given[2];
      const output = `ran ${code.length} characters\n`;
      return {
        ...{ output, stdout: output, stderr: '', exitCode: code.includes('exit') ? 3 : 0, timedOut: false },
        ...{ truncated: false, durationMs: 41, charts: code.includes('plot') ? [chart] : [] },
      };
    },
  };
}

function files(): Tree {
  const text = (value: string) => Buffer.from(value);
  return new Map<string, Buffer | null>([
    ['/workspace', null],
    ['/workspace/src', null],
    ['/workspace/data', null],
    ['/workspace/src/main.py', text('import json\n\nprint(json.dumps({"hello": "world"}))\n')],
    ['/workspace/src/app.ts', text('export const port: number = 8080;\n')],
    ['/workspace/data/sales.csv', text('month,region,eur\n2026-01,north,1200\n2026-02,"south, west",900\n')],
    ['/workspace/data/point.png', Buffer.from(PNG, 'base64')],
    [
      '/workspace/README.md',
      text(
        '# Demo\n\nA **bold** word, `code`, and <script>document.title = "taken"</script>.\n\n- one\n- two\n\n' +
          '[bad](javascript:alert(1)) [good](https://example.org)\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n',
      ),
    ],
    [`/workspace/${HOSTILE_NAME}`, text('hostile')],
    ['/workspace/blob.bin', Buffer.from([0, 159, 146, 150, 0, 1, 2])],
  ]);
}
