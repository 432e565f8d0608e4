/** Daytona's clients as people install them, unmodified, of each generation that frameworks pin, against a real service. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../../support/service.ts';
import { programs, stepsOf } from './programs.ts';

const FEWEST_STEPS = 50;
const LIMIT_MS = 300_000;

let service: Service;

beforeAll(async () => {
  service = await startService({ flags: ['--compat', 'daytona'] });
});

afterAll(() => service?.stop());

describe('a client of Daytona', () => {
  it.each(Object.entries(programs))(
    'carries out every group of its calls: %s',
    async (_name, program) => {
      const steps = await stepsOf(program, service);
      expect(Object.keys(steps).length).toBeGreaterThanOrEqual(FEWEST_STEPS);
      expect(Object.fromEntries(Object.entries(steps).filter(([, outcome]) => outcome !== 'ok'))).toEqual({});
    },
    LIMIT_MS,
  );
});
