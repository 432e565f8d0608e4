/** The stop of the API: others are served while calls in progress end. */
import { describe, expect, it } from 'vitest';
import { LastCalls } from '../../../../src/surfaces/http/last-calls.ts';
import { skippableTime } from '../../../support/skip-time.ts';
import { startHttp } from '../http-harness.ts';

const CLOSE_GRACE_MS = 5_000;
const LAST_CALLS_MS = 1_000;

describe('while calls in progress end', () => {
  it('others are served, on connections that end with their answers', async () => {
    const lastCalls = new LastCalls();
    const http = await startHttp({ lastCalls });
    const skip = skippableTime();
    const long = http.call('Sandbox.RunCommand', { command: 'sleep 1' });
    await expect.poll(() => http.begun).toHaveLength(1);
    const drained = lastCalls.drain();
    const other = await http.fetch('/healthz');
    expect(other.status).toBe(200);
    expect(other.headers.get('connection')).toBe('close');
    await skip(1_000);
    await drained;
    expect((await long).status).toBe(200);
    await http.stop();
  });

  it('one that takes longer is cut when the server closes, and what began since has a moment', async () => {
    const lastCalls = new LastCalls();
    const http = await startHttp({ lastCalls });
    const skip = skippableTime();
    const long = http.call('Sandbox.RunCommand', { command: 'sleep 50' }).catch(() => null);
    await expect.poll(() => http.begun).toHaveLength(1);
    const drained = lastCalls.drain();
    const late = http.call('Sandbox.RunCommand', { command: 'sleep 51' }).catch(() => null);
    await expect.poll(() => http.begun).toHaveLength(2);
    await skip(CLOSE_GRACE_MS);
    await drained;
    const stopped = http.stop();
    await expect.poll(() => http.cancelled).toEqual(['sleep 50']);
    await skip(LAST_CALLS_MS);
    await stopped;
    expect(await Promise.all([long, late])).toEqual([null, null]);
    await expect.poll(() => http.cancelled).toEqual(['sleep 50', 'sleep 51']);
  });

  it('a stream of events is not waited for', async () => {
    const lastCalls = new LastCalls();
    const http = await startHttp({ lastCalls });
    const stream = await http.fetch('/v1/events');
    expect(stream.status).toBe(200);
    await lastCalls.drain();
    await http.stop();
    expect(await stream.text()).toContain('event: ready');
  });
});
