/** Clients that write files by every way there is, and remember what was acknowledged to them, and when. */
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesFrom, oneOf, type Random } from '../../support/random.ts';
import { must, type Service } from '../../support/service.ts';
import { digest } from './disk.ts';

/** One content of a file. Times are nanoseconds of the clock of all processes. */
export interface Version {
  begun: bigint;
  /** null while, and if, no answer came. */
  acknowledged: bigint | null;
  durable: boolean;
  digest: string;
}

/** By name of the file, in the sandbox's folder; one client's each, so that versions have an order. */
export type Histories = Map<string, Version[]>;

const CLIENTS = 3;
const SIZES = [1, 100, 1_024, 4_096, 5_000, 65_536, 1 << 20] as const;
const OVERWRITES = 0.4;
const PAUSE_MS = 40;

const ways = ['WriteFile', 'upload', 'ReplaceInFiles'] as const;

export interface Phase {
  forMs: number;
  /** How many of the writes ask for it. */
  durable: number;
}

type Api = Pick<Service, 'url' | 'apiKey'>;

/** @param histories Receives what was acknowledged, for a caller that cuts the power while files are written. */
export async function writeFiles(
  service: Api,
  sandbox: string,
  phase: Phase,
  random: Random,
  histories: Histories = new Map(),
): Promise<Histories> {
  const until = Date.now() + phase.forMs;
  const client = async (number: number) => {
    const names: string[] = [];
    while (Date.now() < until) {
      const isNew = names.length === 0 || random() > OVERWRITES;
      const name = isNew ? `${phase.durable}-${number}-${names.length}` : oneOf(random, ['', ...names]);
      if (name === '') continue;
      if (isNew) names.push(name);
      await writeOnce(service, sandbox, { name, histories, random, durable: random() < phase.durable });
      await sleep(random() * PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  return histories;
}

/** Files that a program writes and never syncs: what the harness must see go wrong. */
export async function writeUnsynced(service: Api, sandbox: string): Promise<void> {
  const command = 'for i in $(seq 40); do echo "some text" > unsynced-$i; sleep 0.1; done';
  await must(service, 'RunCommand', { sandbox, command });
}

interface Write {
  name: string;
  histories: Histories;
  random: Random;
  durable: boolean;
}

async function writeOnce(service: Api, sandbox: string, write: Write): Promise<void> {
  const { name, histories, random, durable } = write;
  const versions = histories.get(name) ?? [];
  histories.set(name, versions);
  const way = durable ? oneOf(random, ['WriteFile', 'upload']) : oneOf(random, ways);
  const content = bytesFrom(random, oneOf(random, SIZES));
  const add = (bytes: Buffer, isDurable: boolean): Version => {
    const begun = process.hrtime.bigint();
    const version = { begun, acknowledged: null, durable: isDurable, digest: digest(bytes) };
    versions.push(version);
    return version;
  };
  const acknowledge = (version: Version) => {
    version.acknowledged = process.hrtime.bigint();
  };
  if (way === 'ReplaceInFiles') {
    const text = (revision: number) => Buffer.from(`revision ${revision}\n${content.toString('hex')}\n`);
    const first = add(text(1), false);
    await put(service, sandbox, name, text(1), false);
    acknowledge(first);
    const second = add(text(2), false);
    const edit = { sandbox, pattern: 'revision 1', replacement: 'revision 2', files: [name] };
    await must(service, 'ReplaceInFiles', edit);
    acknowledge(second);
    return;
  }
  const version = add(content, durable);
  if (way === 'upload') await put(service, sandbox, name, content, durable);
  else {
    const encoded = { content: content.toString('base64'), encoding: 'base64' };
    await must(service, 'WriteFile', { sandbox, path: name, ...encoded, ...(durable ? { durable } : {}) });
  }
  acknowledge(version);
}

async function put(service: Api, sandbox: string, name: string, content: Buffer, durable: boolean) {
  const query = new URLSearchParams({ path: name, ...(durable ? { durable: 'true' } : {}) });
  const response = await fetch(`${service.url}/v1/sandboxes/${sandbox}/files?${query}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(content),
  });
  if (!response.ok) throw new Error(`PUT: ${await response.text()}`);
  await response.arrayBuffer();
}
