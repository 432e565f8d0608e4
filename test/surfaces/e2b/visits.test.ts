/** Visits to ports by the tokens of E2B's clients. */
import { expect, it } from 'vitest';
import type { Caller } from '../../../src/model/user.ts';
import { visitsOf } from '../../../src/surfaces/e2b/visits.ts';

const ID = 'sb_0123456789abcdef';
let isValid = true;
const visits = visitsOf({
  async authenticate(token) {
    if (token !== 'sbt_good' || !isValid) return null;
    return { keyId: 'tok_1', keyExpiresAt: null, only: { sandboxId: ID, epoch: 0 } } as Caller;
  },
  isRunning: async (id) => id === ID,
});

it('are admitted by the token of this sandbox, while it holds', async () => {
  const admission = await visits.admitElse(ID, 3_000, 'sbt_good');
  expect(admission).toMatchObject({ sandboxId: ID, port: 3_000, tokenId: 'tok_1', expiresAt: null });
  expect(await admission?.right.holds()).toBe(true);
  isValid = false;
  expect(await admission?.right.holds()).toBe(false);
  isValid = true;
  expect(await visits.admitElse('sb_fedcba9876543210', 3_000, 'sbt_good')).toBeNull();
  expect(await visits.admitElse(ID, 3_000, 'sbt_bad')).toBeNull();
});

it('without a token hear that one is missing, or that the sandbox is gone', async () => {
  expect(await visits.unadmitted(ID)).toEqual({
    status: 403,
    json: { code: 403, message: 'The port answers only with the header e2b-traffic-access-token.' },
  });
  expect(await visits.unadmitted('sb_fedcba9876543210')).toEqual({
    status: 502,
    json: { code: 502, message: 'The sandbox was not found', sandboxId: 'fedcba9876543210' },
  });
});
