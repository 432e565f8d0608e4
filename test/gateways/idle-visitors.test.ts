/** Visitors' connections that wait are nobody's, and make room for those of other networks. */
import { expect, it } from 'vitest';
import { IdleVisitors } from '../../src/gateways/preview/idle-visitors.ts';
import { socketFrom } from '../support/fake-socket.ts';

const IDLE_CONNECTIONS = 1_024;

it('a network that holds all places makes room for another, and those that work are left alone', () => {
  const idle = new IdleVisitors();
  const crowd = Array.from({ length: IDLE_CONNECTIONS }, () => socketFrom('198.51.100.1'));
  for (const socket of crowd) idle.enter(socket);
  const working = socketFrom('198.51.100.2');
  idle.enter(working);
  expect(idle.begin(working)).toBe(true);
  const others = Array.from({ length: 100 }, () => socketFrom('203.0.113.5'));
  for (const socket of others) idle.enter(socket);
  expect(others.filter(({ destroyed }) => destroyed)).toEqual([]);
  // One of the crowd went for the first of its own network that came too late.
  expect(crowd.filter(({ destroyed }) => destroyed)).toHaveLength(100);
  expect(working.destroyed).toBe(false);
});

it('a connection whose request is over waits again, and one that has closed takes no place', () => {
  const idle = new IdleVisitors();
  const sockets = Array.from({ length: IDLE_CONNECTIONS * 2 }, () => socketFrom('198.51.100.1'));
  for (const socket of sockets) {
    idle.enter(socket);
    idle.begin(socket);
    idle.end(socket);
    socket.destroy();
  }
  const last = socketFrom('198.51.100.1');
  idle.enter(last);
  expect(last.destroyed).toBe(false);
});

it('a connection that sends request upon request without waiting is ended', () => {
  const idle = new IdleVisitors();
  const socket = socketFrom('198.51.100.1');
  idle.enter(socket);
  for (let at = 0; at < 16; at++) expect(idle.begin(socket)).toBe(true);
  expect(idle.begin(socket)).toBe(false);
  expect(socket.destroyed).toBe(true);
});
