/**
 * Searches many files beside `grep -rE` in the same sandbox, both with all of them in the page cache. A figure is
 * the search's speed as a multiple of grep's; both sides pay one request.
 */
import { interleave, timed } from '../interleave.ts';
import type { MetricId } from '../metrics.ts';
import type { Bench, Scenario } from '../scenario.ts';

const ROUNDS = 10;
const FOLDER = '/workspace/tree';
const FILES = 50_000;

const queries = {
  searchText: 'needle7',
  searchWords: '\\bneedle5\\(\\w+\\)$',
  searchExpression: '(alpha|needle3|omega)\\(',
  searchClasses: 'zq[a-z]+ [a-z]+qz ',
} satisfies Partial<Record<MetricId, string>>;

/** 500 files of random words, each of them written a hundred times, in 500 folders. */
const MAKE_TREE = `
import os, random
random.seed(1)
letters = 'abcdefghijklmnopqrstuvwxyz'
words = [''.join(random.choices(letters, k=random.randint(2, 10))) for _ in range(5000)] + ['été', 'naïve', 'Größe']
def line():
    text = '    ' * random.randint(0, 3) + ' '.join(random.choices(words, k=random.randint(1, 12)))
    return text + (' needle%d(x)' % random.randint(0, 6) if random.random() < 0.0005 else '')
def content(size):
    lines = []
    while size > 0:
        lines.append(line())
        size -= len(lines[-1]) + 1
    return ('\\n'.join(lines) + '\\n').encode()
pool = [content(random.choice([2000, 5000, 10000, 23000])) for _ in range(500)]
for folder in range(500):
    path = '${FOLDER}/%d/%d' % (folder % 25, folder)
    os.makedirs(path)
    for name in range(${FILES} // 500):
        with open('%s/f%d.txt' % (path, name), 'wb') as file:
            file.write(random.choice(pool))
`;

export const search: Scenario = async (bench) => {
  const { sandhaven, rounds } = bench;
  const sandbox = await sandhaven.create();
  await sandhaven.writeFile(sandbox, '/tmp/make-tree.py', MAKE_TREE);
  await sandhaven.command(sandbox, 'python3 /tmp/make-tree.py');
  const times: Record<string, { search: number; grep: number }[]> = {};
  const samples = await interleave(rounds(ROUNDS), {
    sandhaven: async () => {
      const figures: Partial<Record<MetricId, number>> = {};
      for (const [id, query] of Object.entries(queries) as [keyof typeof queries, string][]) {
        const pair = await both(bench, sandbox, query);
        times[query] = [...(times[query] ?? []), pair];
        figures[id] = pair.grep / pair.search;
      }
      return figures;
    },
  });
  await sandhaven.remove(sandbox);
  return { samples, details: { files: FILES, milliseconds: times } };
};

/** Grep's output is kept in a file: into /dev/null it would stop at each file's first match. */
async function both({ sandhaven }: Bench, sandbox: string, query: string) {
  const count = `cut -d: -f1 /tmp/found | uniq | sort -u | wc -l`;
  let found = 0;
  const search = await timed(async () => {
    found = await sandhaven.search(sandbox, FOLDER, query);
  });
  const grep = await timed(() =>
    sandhaven.command(sandbox, `grep -rE -- '${query}' ${FOLDER} > /tmp/found || [ $? = 1 ]`),
  );
  const wanted = Number(await sandhaven.command(sandbox, count));
  if (found !== wanted)
    throw new Error(`'${query}' is in ${wanted} files by grep, and in ${found} by the search`);
  return { search, grep };
}
