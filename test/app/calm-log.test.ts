import { expect, it } from 'vitest';
import { createLog } from '../../src/log.ts';
import { errorsIn } from '../support/service.ts';

it('an error in a service’s log fails its test, unless the test names it as one that it provokes', () => {
  const lines: string[] = [];
  const log = createLog({ write: (line: string) => lines.push(line) > 0 });
  log.info('an "error" of a caller', { level: 'of the caller' });
  log.warn('late');
  log.error('provoked', { error: new Error('meant') });
  log.error('a fault');
  expect(errorsIn(lines.join(''), ['provoked']).map((line) => JSON.parse(line).message)).toEqual(['a fault']);
});
