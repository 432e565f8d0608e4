/** Which runs of which parts a change asks for, and what of it fits into the time that is left. */
import { matchesGlob } from 'node:path';
import { type Part, parts, type Run } from './parts.ts';

export interface Chosen {
  part: Part;
  run: Run;
  why: string;
}

export interface Choice {
  chosen: Chosen[];
  /** Asked for, but too long for what is left. */
  left: Chosen[];
}

/** A change of the engine may take longer than another. */
const ENGINE = ['src/runtime/oci/**', 'native/**'];
const MINUTES = 35;
const MINUTES_OF_ENGINE = 50;

/** Source files that `make test` alone proves. */
export const byTestAlone = [
  'src/{demo-database,documentdb,identity,provider,webauthn,webhooks}/**',
  'src/{home,log,main}.ts',
  'src/runtime/{canceled,machine-size,start-program}.ts',
  'images/documentdb/**',
  'protocol/**',
];

export function minutesFor(changed: readonly string[]): number {
  return changed.some((file) => isOneOf(file, ENGINE)) ? MINUTES_OF_ENGINE : MINUTES;
}

/**
 * The runs whose sources have changed, the shortest first; then one more, by turns.
 *
 * @param changed Paths below the root.
 * @param commits Number of commits until now: it says whose turn it is.
 */
export function choose(changed: readonly string[], commits: number, minutesLeft: number): Choice {
  const choice: Choice = { chosen: [], left: [] };
  const minutesTaken = () => choice.chosen.reduce((sum, { run }) => sum + run.minutes, 0);
  const fits = (run: Run) => minutesTaken() + run.minutes <= minutesLeft;
  const asked = parts.flatMap((part) =>
    part.runs.flatMap((run, at) => {
      const sources = [...(at === 0 ? part.sources : []), ...(run.sources ?? [])];
      const cause = changed.find((file) => isOneOf(file, sources));
      return cause === undefined ? [] : [{ part, run, why: `${cause} has changed` }];
    }),
  );
  for (const one of asked.toSorted((a, b) => a.run.minutes - b.run.minutes)) {
    (fits(one.run) ? choice.chosen : choice.left).push(one);
  }
  const turn = inTurn(commits).find(({ run }) => fits(run) && !choice.chosen.some((one) => one.run === run));
  if (turn) choice.chosen.push(turn);
  return choice;
}

/** All runs: the next one of each part, from the part whose turn it is. */
function inTurn(commits: number): Chosen[] {
  const round = Math.floor(commits / parts.length);
  return parts
    .map((_, at) => parts[(commits + at) % parts.length] as Part)
    .flatMap((part) =>
      part.runs.map((_, at) => ({
        part,
        run: part.runs[(round + at) % part.runs.length] as Run,
        why: 'it is its turn',
      })),
    );
}

/** A name that begins with a point is one as any other. */
function isOneOf(file: string, globs: readonly string[]): boolean {
  const path = file.replaceAll('/.', '/');
  return globs.some((glob) => matchesGlob(path, glob));
}

/** Source files that no part and no declaration names. */
export function unproven(files: readonly string[]): string[] {
  const ofRuns = parts.flatMap(({ runs }) => runs.flatMap(({ sources = [] }) => sources));
  const named = [...parts.flatMap(({ sources }) => sources), ...ofRuns, ...byTestAlone];
  return files.filter((file) => !isOneOf(file, named));
}
