/** A sandbox that does its worst holds nobody else up, and holds no more than its share. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createInternet, type Internet, neighbour, sandbox } from './support/harness.ts';
import { hello, question, types } from './support/messages.ts';

const api = '203.0.113.10';

let net: Internet;

beforeAll(async () => {
  net = await createInternet();
  await net.zone('api.test', { addresses: [api] });
  for (const from of [sandbox, neighbour]) {
    await net.program.allow(from, ['https://api.test', 'http://api.test'], { owner: `us_${from}` });
    expect(await net.resolve('api.test', from)).toEqual([api]);
  }
});

afterAll(() => net[Symbol.asyncDispose]());

async function neighbourIsServed(): Promise<void> {
  const start = performance.now();
  const connection = await net.connect(api, 443, neighbour);
  await connection.write(hello(['api.test']));
  await connection.end();
  expect((await connection.over()).ended).toBe('end');
  expect(performance.now() - start).toBeLessThan(2_000);
}

describe('first bytes', () => {
  it.each([
    ['none at all', ''],
    ['a hello that does not go on', hello(['api.test']).subarray(0, 40)],
    ['a head that does not go on', 'GET / HTTP/1.1\r\nHost: api.test\r\n'],
  ])('that are %s have ten seconds, and others are served meanwhile', async (_what, bytes) => {
    const start = performance.now();
    const connection = await net.connect(api, 443);
    await connection.write(bytes);
    await neighbourIsServed();
    expect((await connection.over(15_000)).ended).toBe('reset');
    expect(performance.now() - start).toBeGreaterThan(9_500);
    expect(performance.now() - start).toBeLessThan(12_500);
  });

  it('that come one by one have ten seconds together', async () => {
    const connection = await net.connect(api, 80);
    const start = performance.now();
    await connection.write('GET / HTTP/1.1\r\nX: ');
    while ((await connection.state()).ended === 'open' && performance.now() - start < 15_000) {
      await connection.write('a');
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect((await connection.state()).ended).toBe('reset');
    expect(performance.now() - start).toBeLessThan(12_500);
  });
});

it('a sandbox has 1,024 connections, and another one is served beside them', async () => {
  const { ids, open } = await net.inside.call<{ ids: number[]; open: number }>('flood', {
    ...{ from: sandbox, host: api, port: 443, count: 1_200 },
  });
  expect(open).toBe(1_024);
  await neighbourIsServed();
  await net.inside.call('destroy', { ids });
  await expect.poll(async () => (await net.talk(api, 443, hello(['no.test']))).bytes).toBe(7);
});

it('a flood of questions is bounded, and another sandbox is answered beside it', async () => {
  const wave = () =>
    Promise.all(
      Array.from({ length: 3_000 }, () =>
        net.inside.call('askUdp', {
          ...{ from: sandbox, host: '10.213.255.254', timeoutMs: 100 },
          message: question('evil.test', types.A).toString('base64'),
        }),
      ),
    );
  let goesOn = true;
  const flooded = (async () => {
    const answers = await wave();
    while (goesOn) await wave();
    return answers;
  })();
  // It asks again, as resolvers do: the process that floods may be too late for the answer.
  await expect
    .poll(() => net.resolve('api.test', neighbour))
    .toEqual([api])
    .finally(() => {
      goesOn = false;
    });
  const answered = (await flooded).filter((answer) => answer !== null).length;
  expect(answered).toBeGreaterThan(100);
  expect(answered).toBeLessThan(2_500);
});

it('events past a hundred of a sandbox in a batch are counted', async () => {
  // Those of the floods before are in an earlier batch.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const before = net.program.events.length;
  await Promise.all(Array.from({ length: 500 }, () => net.talk(api, 443, hello(['evil.test']))));
  const counted = () => net.program.events.slice(before).reduce((sum, { dropped = 1 }) => sum + dropped, 0);
  await expect.poll(counted).toBe(500);
  expect(net.program.events.length - before).toBeLessThan(500);
});
