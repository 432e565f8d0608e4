/**
 * Set-up of a test file under mutation. A property is tried with few cases, always the same, so that a run takes minutes
 * and gives the same score again. A test of processor time is skipped: several runs share the machine.
 */
import type { IRawProperty, Parameters } from 'fast-check';
import { beforeEach, vi } from 'vitest';

const MOST_CASES = 25;
const SEED = 1;

beforeEach(({ task, skip }) => skip(/less than \d+ ms/.test(task.name)));

vi.mock(import('fast-check'), async (importOriginal) => {
  const original = await importOriginal();
  const fewer = (property: IRawProperty<void>, parameters: Parameters = {}) => {
    const numRuns = Math.min(parameters.numRuns ?? MOST_CASES, MOST_CASES);
    return original.assert(property, { seed: SEED, ...parameters, numRuns });
  };
  const assert = fewer as typeof original.assert;
  return { ...original, assert, default: { ...original.default, assert } };
});
