/**
 * The areas of `make mutate`: files to mutate, the tests that must notice, and the least part of the mutants that they
 * must notice. No file of an area needs a store on disk or a machine, and no test starts a program.
 */

export interface Area {
  files: string[];
  /** Tests of at most two seconds, which run against each mutant that they reach. */
  tests: string[];
  /** Least percentage of detected mutants. */
  leastScore: number;
  /** Texts for people, of which tests hold the form and what they name, not each word; see ignore-texts.ts. */
  ignored: 'sentences' | 'phrases';
  /** Leaves alone what runs once, when a file is loaded. */
  ignoresStatic?: true;
}

export const areas: Readonly<Record<string, Area>> = {
  guard: {
    files: ['src/documentdb/guard/*.ts'],
    tests: ['test/documentdb-unit/guard/*.test.ts'],
    leastScore: 85,
    // Lists of operators are written as phrases.
    ignored: 'sentences',
    // The tables, entry by entry in tables.test.ts: each of their 700 mutants would run every test.
    ignoresStatic: true,
  },
  model: {
    // Limits are numbers without logic; test/contract holds those that are promised.
    files: ['src/model/**/*.ts', '!src/model/limits.ts', '!src/model/limits/*.ts'],
    tests: [
      'test/model/**/*.test.ts',
      // Starts Git, to compare its judgement of names.
      '!test/model/git/branch-names.test.ts',
    ],
    leastScore: 85,
    ignored: 'phrases',
  },
  control: {
    files: [
      'src/control/access/tokens.ts',
      'src/control/audit/chain.ts',
      'src/control/documents/order-of-use.ts',
      'src/control/git/formats.ts',
      'src/control/lifecycle/{capacity,consequences,template}.ts',
      'src/control/turns/{activity,operation-queue}.ts',
      'src/control/callers/{quotas,rates}.ts',
    ],
    tests: ['test/control/**/*.test.ts', 'test/model/quota.test.ts'],
    leastScore: 80,
    ignored: 'phrases',
  },
  catalog: {
    files: ['src/catalog/**/*.ts'],
    tests: [
      'test/catalog/**/*.test.ts',
      'test/contract/*.test.ts',
      'test/documentdb-unit/query/{catalogue-replies,next-page}.test.ts',
      'test/documentdb-unit/schema/{detail,view,view-room}.test.ts',
    ],
    leastScore: 80,
    ignored: 'phrases',
    // The parts of parameters' schemas, made once for all tools.
    ignoresStatic: true,
  },
};

/** Returns the area that this process works on, as its environment names it. */
export function currentArea(): Area {
  const name = process.env['MUTATION_AREA'] ?? '';
  const area = areas[name];
  if (area === undefined) throw new Error(`MUTATION_AREA names no area: "${name}".`);
  return area;
}
