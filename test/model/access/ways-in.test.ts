/** Whom an admin invites, where admins may not read inside: a user without a way in, who never had one. */
import { describe, expect, it } from 'vitest';
import { assertInvitable, type WaysIn } from '../../../src/model/access/ways-in.ts';

const nothing: WaysIn = { enteredAt: null, keys: 0, links: 0, identities: 0 };

describe('a user whom an admin invites', () => {
  it('never came in, and has nothing to come in with', () => {
    expect(() => assertInvitable(nothing)).not.toThrow();
  });

  it.each([
    [{ enteredAt: 1 }, 'has come in already', 'sandhaven keys create'],
    [{ enteredAt: 0 }, 'has come in already', '--admins-read-inside yes'],
    [{ keys: 1 }, 'has a valid key already', 'Revoke it'],
    [{ links: 1 }, 'has a link already', 'after 15 minutes'],
    [{ identities: 1 }, 'signs in by the identity provider', 'sandhaven sign-ins link'],
    [{ enteredAt: 1, keys: 1, links: 1, identities: 1 }, 'has come in already', 'sandhaven keys create'],
  ])('is not one with %j', (ways, why, hint) => {
    expect(() => assertInvitable({ ...nothing, ...ways })).toThrow(
      expect.objectContaining({
        code: 'permission_denied',
        message: `The user ${why}, and admins may not read inside: who makes a way in acts as the user.`,
        fields: { parameter: 'user', hint: expect.stringContaining(hint) },
      }),
    );
  });
});
