/** Daytona's clients as people install them, unmodified, of each generation that frameworks pin, against a real service. */
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linesOfCompared } from '../../support/compared-program.ts';
import { type Service, startService } from '../../support/service.ts';
import { nodePackage } from '../clients/installed.ts';
import { clientEnvironment, programs, stepsOf } from './programs.ts';

const FEWEST_STEPS = 50;
const LIMIT_MS = 300_000;

let service: Service;

beforeAll(async () => {
  service = await startService({ flags: ['--compat', 'daytona'] });
});

afterAll(() => service?.stop());

describe('a client of Daytona', () => {
  it.concurrent.each(Object.entries(programs))(
    'carries out every group of its calls: %s',
    async (_name, program) => {
      const steps = await stepsOf(program, clientEnvironment(service));
      expect(Object.keys(steps).length).toBeGreaterThanOrEqual(FEWEST_STEPS);
      expect(Object.fromEntries(Object.entries(steps).filter(([, outcome]) => outcome !== 'ok'))).toEqual({});
    },
    LIMIT_MS,
  );

  it('runs the program that is compared with ours', async () => {
    const lines = await linesOfCompared({
      ...{ client: 'Daytona', folder: dirname(nodePackage('.')), env: clientEnvironment(service) },
      installed: ['@daytonaio/sdk', 'daytona-0.218'],
    });
    expect(lines).toEqual([
      ...['1', '3', '6', 'status 0', '1267650600228229401496703205376'],
      expect.stringMatching(/^http:\/\/8000-\w+\.localhost:\d+$/),
      ...['.bash_logout 220', '.bashrc 3526', '.profile 807', 'numbers.txt 6', ''],
    ]);
  }, 60_000);
});
