/** Replicas behind one public URL: whichever gets a request, it knows what the others have begun. */
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createArrivals } from '../../../../src/model/network/arrival.ts';
import { MEMBER_KEY } from '../../fakes/fake-services.ts';
import type { Harness } from '../http-harness.ts';
import { callTool, RawApp, tokensIn } from './app.ts';
import { startOAuth } from './oauth-harness.ts';
import { Person } from './person.ts';

const PUBLIC = 'https://sandhaven.example';
const RESOURCE = { resource: `${PUBLIC}/mcp` };

let replicas: Harness[];
let front: Server;
let port: number;

beforeEach(async () => {
  const parts = {
    ...{ publicUrl: PUBLIC, allowedHosts: ['127.0.0.1', 'sandhaven.example'] },
    arrivals: createArrivals([{ network: '127.0.0.1', prefix: 32, family: 'ipv4' }]),
  };
  const first = await startOAuth(parts);
  replicas = [first, await startOAuth(parts, first)];
  let turn = 0;
  front = createServer((incoming, outgoing) => {
    const headers = {
      ...incoming.headers,
      'x-forwarded-host': 'sandhaven.example',
      'x-forwarded-proto': 'https',
    };
    const to = {
      host: '127.0.0.1',
      port: replicas[turn++ % 2]?.port,
      path: incoming.url,
      method: incoming.method,
    };
    const passed = request({ ...to, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  port = (front.address() as AddressInfo).port;
});

afterEach(async () => {
  front.closeAllConnections();
  front.close();
  for (const replica of replicas) await replica.close();
});

describe('two replicas', () => {
  it('serve the steps of one authorization in turn, and end it together', async () => {
    const app = await new RawApp(`http://127.0.0.1:${port}`).registered();
    const person = await new Person(PUBLIC, port).signIn(MEMBER_KEY);
    const callback = await person.authorize(app.url(RESOURCE));
    expect(callback.searchParams.get('iss')).toBe(PUBLIC);
    const first = await tokensIn(await app.redeem(callback.searchParams.get('code'), RESOURCE));
    const second = await tokensIn(await app.refresh(first.refresh_token));
    const statuses = async () => {
      const calls = [1, 2].map(() => callTool(app.origin, second.access_token));
      return (await Promise.all(calls)).map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 200]);
    await app.token({ token: second.access_token }, '/oauth/revoke');
    expect(await statuses()).toEqual([401, 401]);
  });

  it('give one code its tokens once, when both get it at a time', async () => {
    const app = await new RawApp(`http://127.0.0.1:${port}`).registered();
    const person = await new Person(PUBLIC, port).signIn(MEMBER_KEY);
    const code = (await person.authorize(app.url(RESOURCE))).searchParams.get('code');
    const answers = await Promise.all([1, 2, 3, 4].map(() => app.redeem(code, RESOURCE)));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  });
});
