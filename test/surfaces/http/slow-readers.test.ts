/** Readers that stand still: cut with a whole answer, kept while their call goes on. */
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { patient, SlowReaders } from '../../../src/surfaces/http/base/connections.ts';

let readers: SlowReaders;

beforeEach(() => {
  vi.useFakeTimers();
  readers = new SlowReaders();
});

afterEach(() => {
  readers.close();
  vi.useRealTimers();
});

/** An answer of which 1,000 bytes wait for a client that reads nothing. */
function standing(): { response: ServerResponse; isCut(): boolean } {
  let isCut = false;
  const socket = { writableLength: 1_000, bytesWritten: 5_000, destroyed: false };
  Object.assign(socket, {
    destroy() {
      isCut = true;
    },
  });
  const response = Object.assign(new EventEmitter(), { socket, statusCode: 200 });
  return { response: response as unknown as ServerResponse, isCut: () => isCut };
}

it('a client that reads nothing of an answer is cut after 20 seconds', () => {
  const { response, isCut } = standing();
  readers.watch(response);
  vi.advanceTimersByTime(20_000);
  expect(isCut()).toBe(false);
  vi.advanceTimersByTime(4_000);
  expect(isCut()).toBe(true);
});

it('a client that pauses while its call goes on is kept, and has 20 seconds from its end', () => {
  const { response, isCut } = standing();
  patient.add(response);
  readers.watch(response);
  vi.advanceTimersByTime(600_000);
  expect(isCut()).toBe(false);
  patient.delete(response);
  vi.advanceTimersByTime(18_000);
  expect(isCut()).toBe(false);
  vi.advanceTimersByTime(6_000);
  expect(isCut()).toBe(true);
});

it('a client that takes nothing for eleven minutes is cut though its call goes on', () => {
  const { response, isCut } = standing();
  patient.add(response);
  readers.watch(response);
  vi.advanceTimersByTime(660_000);
  expect(isCut()).toBe(false);
  vi.advanceTimersByTime(24_000);
  expect(isCut()).toBe(true);
});
