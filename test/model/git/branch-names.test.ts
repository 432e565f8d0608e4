/** Names of branches, held against git itself. */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { branchNameFault } from '../../../src/model/git/ref.ts';

const odd = fc.string({
  unit: fc.constantFrom(...'ab/.-@{}~^:?*[\\ \t\u007fé', '.lock', '..', '@{', '//', 'HEAD'),
  minLength: 1,
  maxLength: 8,
});

describe('the name of a branch', () => {
  it('is taken exactly when git takes it', () => {
    fc.assert(
      fc.property(odd, (name) => {
        const git = spawnSync('git', ['check-ref-format', `refs/heads/${name}`], { cwd: '/' });
        const taken = git.status === 0 && !name.startsWith('-') && !['HEAD', '@'].includes(name);
        expect(branchNameFault(name) === null, JSON.stringify(name)).toBe(taken);
      }),
      { numRuns: 150 },
    );
  });
});
