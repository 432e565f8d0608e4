/** A client that goes while its token is looked up. */
import { EventEmitter } from 'node:events';
import type { Connection } from 'ssh2';
import { expect, it, vi } from 'vitest';
import { login, WrongTokens } from '../../../src/gateways/ssh/worker/login.ts';

it('leaves as it has entered, and is not logged in', async () => {
  const connection = Object.assign(new EventEmitter(), { end: vi.fn() });
  const entering = Promise.withResolvers<null | typeof guest>();
  const guest = { key: 'guest-1', tokenId: 'tok_1', sandboxId: 'sb_1', env: {}, refusal: null };
  const leave = vi.fn();
  const admitted = login(connection as unknown as Connection, {
    ...{ address: '127.0.0.1', enter: () => entering.promise, leave },
    ...{ wrongTokens: new WrongTokens(), log: { info: vi.fn(), warn: vi.fn(), error: vi.fn() } },
  });
  const context = { method: 'none', username: 'a-token', accept: vi.fn(), reject: vi.fn() };
  connection.emit('authentication', context);
  connection.emit('close');
  expect(await admitted).toBe(null);
  entering.resolve(guest);
  await expect.poll(() => leave.mock.calls).toEqual([['guest-1']]);
  expect(context.accept).not.toHaveBeenCalled();
});
