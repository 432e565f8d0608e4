/** E2B's clients as people install them, unmodified, against a real service: by names below a domain, with a certificate for all. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonOf } from '../clients/installed.ts';
import { type Program, stepsOf } from '../daytona/programs.ts';
import { type NamedService, startNamedService } from './service.ts';

const LIMIT_MS = 300_000;

const inNode = (name: string) => join(import.meta.dirname, 'node', name);

const programs: [name: string, fewestSteps: number, program: () => Program][] = [
  [
    'Node 2.51',
    26,
    () => ({
      file: process.execPath,
      args: [inNode('program.mjs'), '2.51'],
    }),
  ],
  [
    'Python 2.63',
    12,
    () => ({ file: pythonOf('e2b-2.63'), args: ['-B', join(import.meta.dirname, 'python/program.py')] }),
  ],
];

let place: NamedService | undefined;

beforeAll(async () => {
  place = await startNamedService();
}, 120_000);

afterAll(() => place?.stop());

describe('a client of E2B', () => {
  it.each(programs)(
    'carries out every group of its calls that is here: %s',
    async (_name, fewestSteps, program) => {
      const steps = await stepsOf(program(), place?.env ?? {});
      expect(Object.keys(steps).length).toBeGreaterThanOrEqual(fewestSteps);
      expect(Object.fromEntries(Object.entries(steps).filter(([, outcome]) => outcome !== 'ok'))).toEqual({});
    },
    LIMIT_MS,
  );
});
