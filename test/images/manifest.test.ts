/** A registry's documents come from outside: what would hold the thread is not parsed. */
import { expect, it } from 'vitest';
import { parseConfig, parseManifest } from '../../src/runtime/images/registry/manifest.ts';
import { processorMsOf } from '../support/processor-time.ts';

const refusal = expect.objectContaining({ code: 'failed_precondition' });

function refused(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return null;
}

it('a configuration of half a million wrong values is refused before each has an issue of its own', () => {
  const values = `[${'7,'.repeat(500_000)}7]`;
  const ms = processorMsOf(() => {
    expect(refused(() => parseConfig(`{"config":{"Env":${values}}}`, 'x'))).toEqual(refusal);
    expect(refused(() => parseManifest(`{"manifests":${values}}`, 'x'))).toEqual(refusal);
  });
  // Either took a second.
  expect(ms).toBeLessThan(400);
});

it('one that nests without end is refused', () => {
  expect(refused(() => parseManifest('['.repeat(60_000), 'x'))).toEqual(refusal);
});

it('one of an ordinary image is taken', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const layers = Array.from({ length: 100 }, () => ({ digest, size: 1, mediaType: 'x' }));
  const parsed = parseManifest(JSON.stringify({ config: { digest }, layers }), 'x');
  expect('manifest' in parsed && parsed.manifest.layers).toHaveLength(100);
});
