/** What connects while the API stops: nothing that has no end of its own may hold up the end of the process. */
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Services } from '../../../../src/control/services.ts';
import { openTunnel } from '../../../../src/surfaces/cli/tunnel-client.ts';
import { skippableTime } from '../../../support/skip-time.ts';
import { API_KEY } from '../../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http-harness.ts';

const CLOSE_GRACE_MS = 5_000;

const STUCK = 1;
const OPEN = 2;

let http: Harness;
/** Ports of the tunnels that were asked for. */
let asked: number[];
let unstick: () => void;

beforeEach(async () => {
  asked = [];
  http = await startHttp();
  const stuck = new Promise<void>((resolve) => {
    unstick = resolve;
  });
  const visit: Services['tunnels']['visit'] = async (_caller, _sandbox, port, work) => {
    asked.push(port);
    if (port === STUCK) await stuck;
    else await work(new PassThrough());
  };
  http.services.tunnels = { visit } as Services['tunnels'];
});

afterEach(async () => {
  unstick();
  await http.close();
});

const tunnel = (port: number) =>
  openTunnel({ url: http.url, apiKey: API_KEY }, { sandbox: 'any', port }, AbortSignal.timeout(20_000));

it('a tunnel and a stream of events that open while others are ended do not hold it up', async () => {
  const skip = skippableTime();
  const waiting = tunnel(STUCK);
  await expect.poll(() => asked).toEqual([STUCK]);
  // The stop waits for the one that is still opening, and the listener is open meanwhile.
  const stopped = http.stop();
  const late = await tunnel(OPEN);
  expect(late.problem).toBeUndefined();
  const ended = new Promise((resolve) =>
    late.connection
      ?.on('error', () => {})
      .once('close', resolve)
      .resume(),
  );
  const stream = await http.fetch('/v1/events');
  expect(stream.status).toBe(200);
  await skip(2 * CLOSE_GRACE_MS);
  await stopped;
  await ended;
  expect((await waiting).problem?.code).toBe('unavailable');
  await stream.text().catch(() => '');
});
