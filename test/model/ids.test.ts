/** Identifiers: their forms, which tell a reader the kind, and enough characters that none is drawn twice. */
import { expect, it } from 'vitest';
import {
  newApiKey,
  newAuthorizationId,
  newCommandId,
  newRequestId,
  newSandboxId,
  newSessionId,
  newSnapshotId,
  newTokenId,
  newUserId,
  randomText,
  sandboxIdPattern,
} from '../../src/model/ids.ts';

it.each([
  [newSandboxId, /^sb_[0-9a-z]{16}$/],
  [newSnapshotId, /^snap_[0-9a-z]{16}$/],
  [newTokenId, /^tok_[0-9a-z]{16}$/],
  [newAuthorizationId, /^auth_[0-9a-z]{16}$/],
  [newSessionId, /^session_[0-9a-z]{16}$/],
  [newCommandId, /^cmd_[0-9a-z]{16}$/],
  [newUserId, /^user_[0-9a-z]{16}$/],
  [newRequestId, /^req_[0-9a-z]{16}$/],
  [newApiKey, /^shv_[0-9a-z]{43}$/],
])('%o draws a text of the form %s, another each time', (draw, form) => {
  const drawn = Array.from({ length: 20 }, draw);
  for (const text of drawn) expect(text).toMatch(form);
  expect(new Set(drawn).size).toBe(20);
});

it('every digit and every small letter is drawn', () => {
  // The chance that one of 36 is missing in 10,000 is less than 10 to the power of -120.
  expect([...new Set(randomText(10_000))].toSorted().join('')).toBe('0123456789abcdefghijklmnopqrstuvwxyz');
});

it.each([
  ['sb_0123456789abcdef', true],
  ['sb_0123456789abcde', false],
  ['sb_0123456789abcdefg', false],
  ['xsb_0123456789abcdef', false],
  ['sb_0123456789abcdeF', false],
])('%s is the id of a sandbox: %s', (text, isId) => {
  expect(sandboxIdPattern.test(text)).toBe(isId);
});
