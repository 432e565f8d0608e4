/**
 * Searches many files beside `grep -rE` and `rg -j2` in the same sandbox, all with the files in the page cache. A figure
 * is the search's speed as a multiple of the other's; each pays one request. Both programs are Debian's, from the base
 * image; two threads are what the search itself takes of a sandbox with two processors.
 */
import { type Figures, interleave, timed } from '../base/interleave.ts';
import type { MetricId } from '../base/metrics.ts';
import type { Bench, Scenario } from '../base/scenario.ts';

const ROUNDS = 10;
const FOLDER = '/workspace/tree';
const FILES = 50_000;

interface Query {
  text: string;
  besideGrep: MetricId;
  besideRg: MetricId;
}

const queries: readonly Query[] = [
  { text: 'needle7', besideGrep: 'searchText', besideRg: 'searchTextRg' },
  { text: '\\bneedle5\\(\\w+\\)$', besideGrep: 'searchWords', besideRg: 'searchWordsRg' },
  { text: '(alpha|needle3|omega)\\(', besideGrep: 'searchExpression', besideRg: 'searchExpressionRg' },
  { text: 'zq[a-z]+ [a-z]+qz ', besideGrep: 'searchClasses', besideRg: 'searchClassesRg' },
];

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
  const times: Record<string, Times[]> = {};
  const samples = await interleave(rounds(ROUNDS), {
    sandhaven: async () => {
      const figures: Figures = {};
      for (const { text, besideGrep, besideRg } of queries) {
        const measured = await compare(bench, sandbox, text);
        times[text] = [...(times[text] ?? []), measured];
        figures[besideGrep] = measured.grep / measured.search;
        figures[besideRg] = measured.rg / measured.search;
      }
      return figures;
    },
  });
  await sandhaven.remove(sandbox);
  return { samples, details: { files: FILES, milliseconds: times } };
};

/** In milliseconds. */
interface Times {
  search: number;
  grep: number;
  rg: number;
}

async function compare(bench: Bench, sandbox: string, query: string): Promise<Times> {
  const { sandhaven } = bench;
  let found = 0;
  const search = await timed(async () => {
    found = await sandhaven.search(sandbox, FOLDER, query);
  });
  const grep = await program(bench, sandbox, `grep -rE -- '${query}' ${FOLDER}`, found);
  const rg = await program(bench, sandbox, `rg -j2 -- '${query}' ${FOLDER}`, found);
  return { search, grep, rg };
}

/**
 * Keeps the program's output in a file: into /dev/null grep would stop at each file's first match. Rejects when it
 * finds another number of files.
 */
async function program(
  { sandhaven }: Bench,
  sandbox: string,
  command: string,
  found: number,
): Promise<number> {
  const time = await timed(() => sandhaven.command(sandbox, `${command} > /tmp/found || [ $? = 1 ]`));
  const wanted = Number(await sandhaven.command(sandbox, 'cut -d: -f1 /tmp/found | sort -u | wc -l'));
  if (found !== wanted) throw new Error(`${command} finds ${wanted} files, and the search ${found}`);
  return time;
}
