/** Sandboxes of the pool that a start of the service keeps. */
import { expect, it } from 'vitest';
import { stillUsable } from '../../../src/control/pool/pool-sandbox.ts';

const bounds = { min: 1, max: 3 };

it.each([
  ['of the base image', bounds, 'sha256:base', true],
  ['of an earlier base image', bounds, 'sha256:new', false],
  ['while it is not known which image is the base', bounds, null, true],
  ['of a pool that is turned off', { min: 0, max: 0 }, 'sha256:base', false],
  ['of such a pool, with no known base', { min: 0, max: 0 }, null, false],
] as const)('a sandbox %s', (_, { min, max }, base, kept) => {
  expect(stillUsable({ min, max }, base)({ imageDigest: 'sha256:base' })).toBe(kept);
});
