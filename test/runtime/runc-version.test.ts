import { expect, it } from 'vitest';
import { isVulnerable, parseRuncVersion } from '../../src/runtime/oci/machine/machine-runtime.ts';

const judge = (version: string): boolean | null => {
  const parsed = parseRuncVersion(`runc version ${version}\ncommit: v1-0-g0\nspec: 1.2.1\ngo: go1.26\n`);
  return parsed && isVulnerable(parsed);
};

it.each([
  '1.2.8',
  '1.2.9',
  '1.3.3',
  '1.3.6+ds1',
  '1.4.0-rc.3',
  '1.4.0',
  '1.4.1',
  '1.10.0',
  '2.0.0',
  'v1.3.4',
])('takes %s for sound', (version) => expect(judge(version)).toBe(false));

it.each([
  '1.0.0-rc93',
  '1.1.5+ds1',
  '1.1.15',
  '1.2.7',
  '1.2.8-rc.1',
  '1.3.0',
  '1.3.2+ds1-1',
  '1.3.3-rc1',
  '1.4.0-rc.1',
  '1.4.0-rc.2',
  '0.9.9',
])('takes %s for vulnerable', (version) => expect(judge(version)).toBe(true));

it.each(['', 'runc', 'crun version 1.8.1\n', 'runc version unknown\n', 'youki version 0.5'])(
  'takes %j for no runc',
  (output) => expect(parseRuncVersion(output)).toBeNull(),
);
