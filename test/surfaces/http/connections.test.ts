/** Whose a connection to the API is. */
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Connections } from '../../../src/surfaces/http/base/connections.ts';
import { socketFrom } from '../../support/fake-socket.ts';

function watched() {
  const server = new EventEmitter();
  const connections = new Connections();
  connections.watch(server as Server);
  const arrive = (address: string) => {
    const socket = socketFrom(address);
    server.emit('connection', socket);
    return socket;
  };
  return { connections, arrive };
}

describe('a connection', () => {
  it('of an address with many strangers gives way, and that of another address does not', () => {
    const { arrive } = watched();
    const alice = arrive('192.0.2.1');
    const strangers = Array.from({ length: 800 }, () => arrive('198.51.100.1'));
    expect(alice.destroyed).toBe(false);
    expect(strangers.filter(({ destroyed }) => destroyed)).toHaveLength(33);
  });

  it('is of the user who used it last: users who take turns on it hold one between them', () => {
    const { connections, arrive } = watched();
    const shared = arrive('192.0.2.1');
    for (let at = 0; at < 1_000; at++) connections.belongsTo(shared, at % 2 === 0 ? 'alice' : 'bob');
    const own = () => connections.belongsTo(arrive('192.0.2.1'), 'bob');
    for (let at = 0; at < 511; at++) own();
    expect(own).toThrow(expect.objectContaining({ code: 'resource_exhausted' }));
    shared.destroy();
    own();
  });

  it("of a proxy is nobody's share, and no stranger either", () => {
    const { connections, arrive } = watched();
    const proxies = Array.from({ length: 600 }, () => arrive('192.0.2.7'));
    for (const proxy of proxies) connections.belongsTo(proxy, null);
    for (let at = 0; at < 900; at++) arrive('192.0.2.7');
    expect(proxies.some(({ destroyed }) => destroyed)).toBe(false);
  });
});
