/** The versions that requests name, which an agent of before an upgrade has to know. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type AgentRequest,
  encodeRequest,
  operationVersions,
  protocolVersions,
} from '../../../src/agent-link/request.ts';

const agent = join(import.meta.dirname, '../../../native/agent/src');
const HEADER_BYTES = 5;

it('of operations are those of the agent', () => {
  const table = readFileSync(join(agent, 'dispatch.rs'), 'utf8');
  const lines = [...table.matchAll(/^ {4}"(\w+)" +(\w+) +.*=>/gm)].map(([, op, since]) => [
    op,
    Number(since),
  ]);
  const { pack: _pack, unpack: _unpack, ...ofMachines } = operationVersions;
  expect(Object.fromEntries(lines.filter(([op]) => op !== 'hello'))).toEqual(ofMachines);
});

it('end with the newest of the agent', () => {
  const source = readFileSync(join(agent, 'wire/request.rs'), 'utf8');
  expect(protocolVersions.at(-1)).toBe(Number(/PROTOCOL_VERSION: u32 = (\d+);/.exec(source)?.[1]));
});

it.each<[AgentRequest, number | undefined]>([
  [{ op: 'hello', versions: [1] }, undefined],
  [{ op: 'exec' }, 1],
  [{ op: 'exec', live: true }, 4],
  [{ op: 'exec', live: true, whole: true }, 6],
  [{ op: 'exec', user: 'ann' }, 7],
  [{ op: 'write', durable: undefined }, 1],
  [{ op: 'write', new_beneath: '/a' }, 3],
  [{ op: 'search', output_bytes: 1 }, 2],
  [{ op: 'search', literal: true }, 3],
  [{ op: 'session_follow' }, 3],
  [{ op: 'session_follow', raw: true }, 6],
])('%j names version %s', (request, version) => {
  const sent = JSON.parse(encodeRequest(request).toString('utf8', HEADER_BYTES));
  expect(sent).toEqual({
    ...JSON.parse(JSON.stringify(request)),
    ...(version === undefined ? {} : { v: version }),
  });
});
