/**
 * A double of the egress program: speaks its control lines, and tells every caller of its gate and its resolver what it
 * knows about them. It refuses rules for refused.example.com, and quotes the command then.
 */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Slot } from '../../../src/runtime/oci/host/plan.ts';
import type { EgressPolicy } from '../../../src/runtime/oci/network/egress/messages.ts';
import { inside, publicAddress, type TestHost } from '../harness.ts';

/** What its gate answers: one line of JSON. */
export interface GateAnswer {
  pid: number;
  uid: number;
  policy: (Omit<EgressPolicy, 'address' | 'rules'> & { rules: string[] }) | null;
  resolvers: string[];
}

/** Returns the path of the program. It hangs while a file of this name beside it exists. */
export function fakeEgress(host: Pick<TestHost, 'folder'>): string {
  const folder = host.folder();
  // The program looks for the file as a user without rights.
  chmodSync(folder, 0o711);
  const path = join(folder, 'sandhaven-egress');
  writeFileSync(path, `#!${process.execPath}\n${code}`, { mode: 0o755 });
  return path;
}

/** Asks the gate, under whatever public address, what it knows of this machine; null when nobody answers. */
export async function askGate(slot: Slot, port: number): Promise<GateAnswer | null> {
  const code = `const socket = require('net').connect({ host: process.argv[1], port: ${port} });
    const end = (text) => { console.log(text); process.exit(); };
    require('readline').createInterface({ input: socket }).on('line', end).on('error', () => {});
    socket.on('error', () => end('null')).on('close', () => end('null'));
    setTimeout(end, 600, 'null');`;
  return JSON.parse(await inside(slot).node(code, publicAddress));
}

/** Name of the file that makes a program of `fakeEgress` hang. */
export function hangFile(path: string): string {
  return `${path}.hang`;
}

const code = `
const { existsSync } = require('node:fs');
const { parseArgs } = require('node:util');
const text = { type: 'string' };
const { values } = parseArgs({
  options: { gateway: text, 'public-except': text, uid: text, gid: text },
});
const policies = new Map();
let resolvers = [];
process.setgroups([]);
process.setgid(Number(values.gid));
process.setuid(Number(values.uid));
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
const answer = (address) => {
  const policy = policies.get(address);
  const { address: _, rules, ...others } = policy ?? {};
  const shown = policy ? { ...others, rules: rules.map((rule) => rule.text) } : null;
  return JSON.stringify({ pid: process.pid, uid: process.getuid(), policy: shown, resolvers });
};
const connections = new Set();
const gate = require('node:net').createServer((socket) => {
  const address = socket.remoteAddress;
  connections.add(socket.on('error', () => {}).on('close', () => connections.delete(socket)));
  say({ events: [{ at: Date.now(), sandbox: policies.get(address)?.sandbox ?? '?', kind: 'tcp', name: null,
    address: null, port: null, rule: null, allowed: policies.has(address), why: null, ended: false }] });
  socket.write(answer(address) + '\\n');
  socket.pipe(socket);
});
gate.listen(0, values.gateway, () => {
  const udp = require('node:dgram').createSocket('udp4');
  udp.on('message', (_, { address, port }) => udp.send(answer(address), port, address));
  udp.bind(0, values.gateway, () => {
    const port = udp.address().port;
    require('node:net').createServer((socket) => {
      socket.on('error', () => {}).end(answer(socket.remoteAddress) + '\\n');
    }).listen(port, values.gateway, () => say({ ready: { gate: gate.address().port, dns: port } }));
  });
});
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  if (existsSync(__filename + '.hang')) return;
  const { id, set, drop, resolvers: given } = JSON.parse(line);
  if (set?.rules.some((rule) => rule.host === 'refused.example.com')) {
    say({ failed: id, why: 'no such rule: ' + line });
    return;
  }
  if (set) policies.set(set.address, set);
  if (drop) {
    policies.delete(drop.address);
    for (const socket of connections) if (socket.remoteAddress === drop.address) socket.destroy();
  }
  if (given) resolvers = given;
  say({ done: id });
}).on('close', () => process.exit());
`;
