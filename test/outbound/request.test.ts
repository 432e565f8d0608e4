/** Requests of the service's own: what they send, what they follow, and how much of an answer they read. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { exchange, toAddresses, toOperators } from '../../src/outbound/request.ts';

let url: URL;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let seen: { method: string; path: string; body: string; length: string | undefined }[];
const { signal } = new AbortController();
const bound = { bytes: 1_000, tooLong: () => new Error('too long') };

const server = createServer(async (request, response) => {
  const body = await text(request);
  const { method = '', url: path = '', headers } = request;
  seen.push({ method, path, body, length: headers['content-length'] });
  answer(request, response);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = new URL(`http://localhost:${(server.address() as AddressInfo).port}/a?b`);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  seen = [];
});

it.each(['GET', 'POST', 'DELETE'])('%s sends its body with its length', async (method) => {
  answer = (_, response) => response.writeHead(204).end();
  const { status, body } = await exchange(url, { way: toOperators, method, body: 'é', signal }, bound);
  expect({ status, body }).toEqual({ status: 204, body: null });
  expect(seen).toEqual([{ method, path: '/a?b', body: 'é', length: '2' }]);
});

it('follows no redirect, and gives all headers', async () => {
  answer = (_, response) =>
    response.writeHead(302, { location: '/elsewhere', 'set-cookie': ['a=1', 'b=2'] }).end('moved');
  const found = await exchange(url, { way: toOperators, signal }, bound);
  expect([found.status, found.headers.get('location'), found.headers.getSetCookie()]).toEqual([
    ...[302, '/elsewhere'],
    ['a=1', 'b=2'],
  ]);
  expect(await found.text()).toBe('moved');
  expect(seen).toHaveLength(1);
});

it('reads as much as its bound, and breaks off what is longer', async () => {
  answer = (_, response) => response.end('x'.repeat(1_000));
  const whole = await exchange(url, { way: toOperators, signal }, bound);
  expect(await whole.text()).toHaveLength(1_000);
  let closed: Promise<void> | undefined;
  answer = (request, response) => {
    closed = new Promise((resolve) => request.socket.once('close', () => resolve()));
    response.write('x'.repeat(1_001));
  };
  await expect(exchange(url, { way: toOperators, signal }, bound)).rejects.toThrow('too long');
  await closed;
});

it('goes to the addresses that were checked, whatever the name says', async () => {
  answer = (_, response) => response.end('here');
  const elsewhere = new URL(url);
  elsewhere.hostname = 'receiver.invalid';
  const way = toAddresses([{ address: '127.0.0.1', family: 4 }]);
  expect(await (await exchange(elsewhere, { way, signal }, bound)).text()).toBe('here');
});

it('ends with its signal, also amid an answer', async () => {
  const over = new AbortController();
  answer = (_, response) => {
    response.write('x');
    over.abort(new Error('over'));
  };
  await expect(exchange(url, { way: toOperators, signal: over.signal }, bound)).rejects.toThrow();
});
