/** Readings of traffic, on a kernel of the test's own: what is asked of it, and to whom counts belong. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import type { Instance } from '../../../src/runtime/oci/host/plan.ts';
import { attribute, nested, number, text } from '../../../src/runtime/oci/network/netlink/attribute.ts';
import { types } from '../../../src/runtime/oci/network/netlink/message.ts';
import { createTraffic, type Traffic } from '../../../src/runtime/oci/network/traffic.ts';
import { useRunner } from '../../../src/runtime/programs/run-program.ts';

const runDir = mkdtempSync(join(tmpdir(), 'sandhaven-readings-'));
const [one, other] = ['sb_0000000000000001', 'sb_0000000000000002'];
const instance = { id: 'abcdef', runDir } as Instance;
const each = { bandwidthMbps: null, connectionsPerSecond: 100 };
const nobody = { refused: new Set<string>(), owners: new Map(), divided: null };

/** State of the kernel. The address is that of slot 4. */
let kernel: { generation: number; packets: number; sentBytes: number; rules: number };
let asked: string[];
let programs: number;
const held = new Map<string, number>();
let traffic: Traffic;

beforeEach(async () => {
  kernel = { generation: 1, packets: 10, sentBytes: 1_000, rules: 0 };
  [asked, programs] = [[], 0];
  held.clear();
  held.set(one, 4);
  useRunner({ run: runNft, netfilter: async (question) => answer(question) });
  traffic = createTraffic({
    ...{ instance, each, held },
    ownerOf: (id) => id,
    log: { info() {}, warn() {}, error() {} },
  });
  await traffic.begin();
  await traffic.limit(nobody);
  // What was in the table before is in the first reading.
  await traffic.read();
  [asked, programs] = [[], 0];
});

afterEach(() => useRunner(null));
afterAll(() => rmSync(runDir, { recursive: true }));

function runNft(_: string, __: string[], { input = '' }: { input?: string | undefined }) {
  programs += 1;
  kernel.generation += 1;
  kernel.rules = [...input.matchAll(/^ {4}(?!type )\S/gm)].length;
  return { ended: Promise.resolve({ code: 0, signal: null }), kill() {} };
}

function answer(question: Buffer): Buffer {
  const type = question.readUInt16LE(4) & 0xff;
  const [name = ''] = Object.entries(types).find(([, number]) => number === type) ?? [];
  asked.push(name);
  const big = (kind: number, value: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(value));
    return attribute(kind, bytes);
  };
  const counter = (kind: number, bytes: number, packets: number) =>
    nested(kind, big(1, bytes), big(2, packets));
  switch (name) {
    case 'getGeneration':
      return message(types.newGeneration, number(1, kernel.generation));
    case 'getObject':
      return message(types.newObject, counter(4, 0, kernel.packets));
    case 'listRules':
      return Buffer.concat(Array.from({ length: kernel.rules }, () => message(types.newRule, text(1, 't'))));
    default: {
      if (!question.includes('sent\0')) return message(types.newElement, nested(3));
      const key = nested(1, attribute(1, Buffer.of(10, 213, 0, 5)));
      const value = nested(7, text(1, 'counter'), counter(2, kernel.sentBytes, kernel.packets));
      return message(types.newElement, nested(3, nested(1, key, value)));
    }
  }
}

function message(type: number, body: Buffer): Buffer {
  const header = Buffer.alloc(20);
  header.writeUInt32LE(20 + body.length, 0);
  header.writeUInt16LE((10 << 8) | type, 4);
  return Buffer.concat([header, body]);
}

const sent = async () => (await traffic.read()).map(({ id, sentBytes }) => [id, sentBytes]);

it('ask for two numbers while no packet was counted and no table has changed', async () => {
  expect(await sent()).toEqual([[one, 0]]);
  expect(asked).toEqual(['getObject', 'getGeneration']);
  expect(programs).toBe(0);
});

it('list the counts after the first packet, once', async () => {
  await traffic.read();
  [kernel.packets, kernel.sentBytes] = [11, 1_100];
  expect(await sent()).toEqual([[one, 100]]);
  expect(asked.filter((name) => name === 'listElements')).toHaveLength(3);
  expect(await sent()).toEqual([[one, 0]]);
  expect(asked.filter((name) => name === 'listElements')).toHaveLength(3);
});

it('count the rules of the table after a change of any, and make it again where some are gone', async () => {
  kernel.generation += 1;
  await traffic.read();
  expect(asked).toEqual(['getObject', 'getGeneration', 'listRules']);
  expect(programs).toBe(0);
  kernel.generation += 1;
  kernel.rules -= 1;
  await traffic.read();
  expect(programs).toBe(1);
});

it('give a later holder of an address none of the bytes of the one before, and all of its own', async () => {
  await traffic.read();
  held.delete(one);
  traffic.released(one, 4);
  [kernel.packets, kernel.sentBytes] = [12, 1_200];
  expect(await sent()).toEqual([[one, 200]]);
  held.set(other, 4);
  expect(await sent()).toEqual([[other, 0]]);
  // Nothing was counted until it left: the next holder's bytes are not its own.
  held.delete(other);
  traffic.released(other, 4);
  await traffic.read();
  held.set(one, 4);
  [kernel.packets, kernel.sentBytes] = [13, 1_250];
  expect(await sent()).toEqual([[one, 50]]);
});
