/** Sandboxes of the pool that a start of the service keeps. */
import { expect, it } from 'vitest';
import { stillUsable } from '../../../src/control/pool/pool-sandbox.ts';
import { openNetwork } from '../../../src/model/network/setting.ts';
import type { NetworkSetting } from '../../../src/model/sandbox.ts';

const bounds = { min: 1, max: 3 };

it.each([
  ['of the base image', bounds, 'sha256:base', true],
  ['of an earlier base image', bounds, 'sha256:new', false],
  ['while it is not known which image is the base', bounds, null, true],
  ['of a pool that is turned off', { min: 0, max: 0 }, 'sha256:base', false],
  ['of such a pool, with no known base', { min: 0, max: 0 }, null, false],
] as const)('a sandbox %s', (_, { min, max }, base, kept) => {
  const pooled = { imageDigest: 'sha256:base', network: openNetwork };
  expect(stillUsable({ min, max }, base, openNetwork)(pooled)).toBe(kept);
});

it('a sandbox with the network that was usual before goes', () => {
  const rules: NetworkSetting = { mode: 'rules', profiles: ['git'], allow: [] };
  const pooled = { imageDigest: 'sha256:base', network: structuredClone(rules) };
  expect(stillUsable(bounds, 'sha256:base', rules)(pooled)).toBe(true);
  expect(stillUsable(bounds, 'sha256:base', { ...rules, profiles: ['llm'] })(pooled)).toBe(false);
  expect(stillUsable(bounds, 'sha256:base', openNetwork)(pooled)).toBe(false);
});
