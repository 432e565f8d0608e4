/** The rules that keep the source readable: who imports whom, how long a file is, what none holds. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { circle, type Import, importsOf } from './support/imports.ts';

const root = join(import.meta.dirname, '..');
const sources = globSync('src/**/*.ts', { cwd: root }).toSorted();
/** With the programs beside the service that have folders. */
const everything = [
  ...sources,
  ...globSync(['bench/**/*.ts', 'sdk/src/**/*.ts', 'web/src/**/*.{ts,tsx}'], {
    cwd: root,
    exclude: ['**/node_modules/**'],
  }).toSorted(),
];

const LEAST_IN_A_FOLDER = 3;
const MAX_LINES = 300;
const LONG_LINES = 200;

describe('imports', () => {
  /** What an area may import besides itself: at run time, and by `import type` only. */
  interface Allowed {
    run: string[];
    types: string[];
  }

  const core = ['model', 'concurrency', 'fairness', 'home.ts'];
  const parts = [...core, 'outbound', 'control', 'catalog', 'administration', 'surfaces', 'gateways', 'tls'];
  const adapters = [
    'store',
    'runtime',
    'agent-link',
    'documentdb',
    'dockerfile',
    'identity',
    'provider',
    'tracing',
    'webauthn',
    'webhooks',
  ];
  const top = ['app', 'log.ts'];

  const adapter: Allowed = { run: [...core, 'outbound'], types: ['control/ports'] };
  const leaf: Allowed = { run: core, types: ['control', 'app'] };
  const assembly: Allowed = { run: [...parts, ...top], types: [] };
  /** The only places that see concrete adapters. */
  const whole: Allowed = { run: [...parts, ...adapters, 'backup', ...top], types: [] };
  const areas: Record<string, Allowed> = {
    model: { run: [], types: [] },
    concurrency: { run: [], types: [] },
    fairness: { run: ['model', 'concurrency'], types: [] },
    outbound: { run: core, types: [] },
    control: { run: core, types: [] },
    store: adapter,
    runtime: adapter,
    'agent-link': adapter,
    documentdb: adapter,
    dockerfile: adapter,
    identity: adapter,
    provider: adapter,
    tracing: adapter,
    webauthn: adapter,
    webhooks: adapter,
    catalog: { run: core, types: ['control'] },
    administration: { run: [...core, 'catalog'], types: ['control'] },
    'demo-database': { run: [...core, 'catalog', 'administration', 'surfaces/cli'], types: ['control'] },
    surfaces: {
      run: [...core, 'outbound', 'catalog', 'administration'],
      types: ['control', 'tls'],
    },
    gateways: { run: [...core, 'outbound', 'control'], types: ['tls'] },
    tls: adapter,
    backup: adapter,
    'log.ts': leaf,
    'home.ts': { run: [], types: [] },
    'app/idle-memory.ts': leaf,
    'app/options': leaf,
    'app/service-options.ts': leaf,
    'app/listeners.ts': assembly,
    'app/prove.ts': assembly,
    'app/up.ts': assembly,
    'app/doctor-facts.ts': whole,
    'app/engine': whole,
    'app/service.ts': whole,
    'app/wiring.ts': whole,
    'app/copy-store.ts': whole,
    'app/purge.ts': whole,
    'app/push-images.ts': whole,
    'app/ssh-worker.ts': whole,
    'app/parts': whole,
    'main.ts': { ...whole, run: [...whole.run, 'demo-database'] },
  };
  /** Areas that are held to a list of npm's packages; Node's own modules are free. */
  const packages: Record<string, string[]> = {
    model: ['zod', 'tldts'],
    control: [],
    catalog: ['zod'],
    store: ['zod', 'pg', 'pg-connection-string'],
    provider: ['zod'],
    webauthn: ['@simplewebauthn'],
    identity: ['zod', 'openid-client', 'jose'],
    'demo-database': ['bson', 'mongodb'],
  };

  it('of OpenTelemetry are those of one adapter', () => {
    const users = sources.filter((file) =>
      importsOf(read(file)).some(({ target }) => target.startsWith('@opentelemetry')),
    );
    expect(users.filter((file) => !file.startsWith('src/tracing/'))).toEqual([]);
  });

  it('go only where their area may', () => {
    const wrong = sources.flatMap((file) =>
      importsOf(read(file))
        .filter((found) => !isAllowed(file, found))
        .map(({ target, typeOnly }) => `${file} imports ${typeOnly ? 'types of ' : ''}${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('of prom-client are in the folder of the metrics alone', () => {
    const using = sources.filter((file) =>
      importsOf(read(file)).some(({ target }) => target === 'prom-client'),
    );
    expect(using).toEqual(['src/surfaces/http/metrics/exposition.ts']);
  });

  it('are all found, whatever their form', () => {
    const source = `
      // import a from './comment.ts';
      /* import a from './block.ts'; */
      import './bare.ts';
      import one from './one.ts';
      import type { Two } from './two.ts';
      import { type Three, type Four } from './three.ts';
      import {
        five,
        type Six,
      } from './five.ts';
      export { seven } from './seven.ts';
      export type * from './eight.ts';
      const nine = await import('./nine.ts');
      const url = 'https://example.org'; import ten from "./ten.ts";
      const text = "import no from './text.ts'";`;
    expect(importsOf(source).toSorted(byTarget)).toEqual(
      [
        { target: './bare.ts', typeOnly: false },
        { target: './one.ts', typeOnly: false },
        { target: './two.ts', typeOnly: true },
        { target: './three.ts', typeOnly: true },
        { target: './five.ts', typeOnly: false },
        { target: './seven.ts', typeOnly: false },
        { target: './eight.ts', typeOnly: true },
        { target: './nine.ts', typeOnly: false },
        { target: './ten.ts', typeOnly: false },
      ].toSorted(byTarget),
    );
  });

  it.each([
    ['src/model/a.ts', '../control/ports/index.ts', true, false],
    ['src/control/a.ts', '../store/sqlite.ts', true, false],
    ['src/store/a.ts', '../control/ports/index.ts', true, true],
    ['src/store/a.ts', '../control/ports/index.ts', false, false],
    ['src/store/a.ts', '../control/queue.ts', true, false],
    ['src/store/a.ts', '../runtime/oci/slot.ts', true, false],
    ['src/runtime/oci/network/a.ts', '../../../model/limits.ts', false, true],
    ['src/catalog/a.ts', '../control/services.ts', false, false],
    ['src/catalog/files/a.ts', '../tool.ts', false, true],
    ['src/surfaces/http/a.ts', '../../control/services.ts', true, true],
    ['src/surfaces/http/a.ts', '../../store/sqlite.ts', true, false],
    ['src/gateways/a.ts', '../control/queue.ts', false, true],
    ['src/gateways/a.ts', '../catalog/tool.ts', true, false],
    ['src/unknown/a.ts', '../model/ids.ts', false, false],
    ['src/model/a.ts', 'zod', false, true],
    ['src/model/a.ts', 'fastify', true, false],
    ['src/store/a.ts', '@scope/any', true, false],
    ['src/surfaces/a.ts', '@scope/any', false, true],
    ['src/demo-database/data/a.ts', 'mongodb', false, true],
    ['src/demo-database/data/a.ts', 'zod', true, false],
    ['src/model/a.ts', '../../test/store/fixtures.ts', true, false],
  ])('from %s to %s (type only: %s) are judged %s', (file, target, typeOnly, allowed) => {
    expect(isAllowed(file, { target, typeOnly })).toBe(allowed);
  });

  function isAllowed(file: string, { target, typeOnly }: Import): boolean {
    const area = areaOf(file);
    if (target.startsWith('node:')) return true;
    if (!target.startsWith('.')) {
      const name = target.split('/')[0] ?? '';
      return packages[area]?.includes(name) ?? true;
    }
    const path = normalize(join(dirname(file), target));
    if (!path.startsWith('src/')) return path === 'package.json';
    if (areaOf(path) === area) return true;
    const { run, types } = areas[area] ?? { run: [], types: [] };
    const within = (allowed: string) => path === `src/${allowed}` || path.startsWith(`src/${allowed}/`);
    return run.some(within) || (typeOnly && types.some(within));
  }
});

describe('folders', () => {
  /** An adapter has a folder of its own, since the lists above hold its imports by the folder. */
  const adapters = ['src/dockerfile', 'src/tls', 'src/webauthn', 'src/webhooks'];

  it('hold at least three files or folders', () => {
    const small = [...contents()].filter(([, inside]) => inside.size < LEAST_IN_A_FOLDER);
    expect(small.map(([folder]) => folder).toSorted()).toEqual(adapters);
  });
});

describe('import circles', () => {
  const whole = graph(everything);

  it('are nowhere, types included', () => {
    expect(circle(graph(sources))).toEqual([]);
  });

  it.each(layered())('are nowhere between what %s holds, types included', (folder) => {
    expect(circle(layersOf(folder))).toEqual([]);
  });

  it('are found between folders', () => {
    const of = (edges: Record<string, string[]>, folder = 'src') =>
      circle(layersOf(folder, new Map(Object.entries(edges))));
    expect(of({ 'src/a/b/one.ts': ['src/a/two.ts'], 'src/a/two.ts': [] }, 'src/a')).toEqual([]);
    expect(of({ 'src/a/b/one.ts': ['src/a/two.ts'], 'src/a/three.ts': ['src/a/b/one.ts'] }, 'src/a')).toEqual(
      ['b', '.', 'b'],
    );
    expect(of({ 'src/a/one.ts': ['src/b/c/two.ts'], 'src/b/three.ts': ['src/a/four.ts'] })).toEqual([
      'a',
      'b',
      'a',
    ]);
    expect(of({ 'src/main.ts': ['src/a/one.ts'], 'src/a/one.ts': ['src/home.ts'] })).toEqual([]);
  });

  it('are found', () => {
    const of = (edges: Record<string, string[]>) => circle(new Map(Object.entries(edges)));
    expect(of({ a: ['b'], b: ['c'], c: [] })).toEqual([]);
    expect(of({ a: ['b'], b: ['c', 'd'], c: [], d: ['b'] })).toEqual(['b', 'd', 'b']);
    expect(of({ a: ['a'] })).toEqual(['a', 'a']);
  });

  /** The folders in a folder, each with all below it; its own files are one, but in src, where each has its own rule. */
  function layersOf(folder: string, files = whole): Map<string, string[]> {
    const layerOf = (file: string) => {
      const [first = '', ...below] = file.slice(folder.length + 1).split('/');
      return below.length > 0 || folder === 'src' ? first : '.';
    };
    const layers = new Map<string, string[]>();
    for (const [file, targets] of files) {
      if (!file.startsWith(`${folder}/`)) continue;
      const others = targets.filter((target) => target.startsWith(`${folder}/`)).map(layerOf);
      const known = layers.get(layerOf(file)) ?? [];
      layers.set(layerOf(file), [...known, ...others.filter((other) => other !== layerOf(file))]);
    }
    return layers;
  }

  function graph(files: string[]): Map<string, string[]> {
    return new Map(
      files.map((file) => [
        file,
        importsOf(read(file))
          .filter(({ target }) => /^\..*\.tsx?$/.test(target))
          .map(({ target }) => normalize(join(dirname(file), target))),
      ]),
    );
  }
});

describe('child processes', () => {
  // Elsewhere one that cannot be started would end the service: nobody would hear of the error, or streams be missing.
  it('are started by the engine, in one place that knows how a start fails', () => {
    const starters = sources.filter((file) => importsOf(read(file)).some(({ target }) => isSpawning(target)));
    expect(starters).toEqual(['src/runtime/start-program.ts']);
  });

  function isSpawning(target: string): boolean {
    return target === 'node:child_process' || target === 'child_process' || target === 'node:cluster';
  }
});

describe('files', () => {
  const tooLong = sources.filter((file) => linesOf(file) > MAX_LINES);
  const long = sources.filter((file) => linesOf(file) > LONG_LINES);

  it(`are at most ${MAX_LINES} lines long`, () => {
    const report = long.map((file) => `  ${linesOf(file)} ${file}`);
    if (long.length > 0) console.warn(`over ${LONG_LINES} lines:\n${report.join('\n')}`);
    expect(tooLong).toEqual([]);
  });

  it('begin with a comment that gives their purpose', () => {
    const silent = sources.filter((file) => {
      const comment = /^(?:#!.*\n)?(?:\/\*\*([\s\S]*?)\*\/|\/\/(.*))/.exec(read(file));
      const words = (comment?.[1] ?? comment?.[2] ?? '').match(/\p{L}+/gu) ?? [];
      return words.length < 2;
    });
    expect(silent).toEqual([]);
  });

  it('have no doc comment that begins with a clause', () => {
    const clause = /\/\*\*\s+(?:\*\s+)?(?:What|How|Whether|Who|Whose|Which|That|Where|When|Why)\b[^\n]*/g;
    expect('/** What is left. */'.match(clause)).toHaveLength(1);
    const found = sources.flatMap((file) =>
      (read(file).match(clause) ?? []).map((text) => `${file}: ${text}`),
    );
    expect(found.slice(0, 20)).toEqual([]);
  });

  it('are not in a folder of leftovers', () => {
    expect(sources.filter((file) => /\/utils?(?:\/|\.ts$)/.test(file))).toEqual([]);
  });

  it('leave nothing for later', () => {
    const later = new RegExp(`\\b(?:${['TO', 'DO|FIX', 'ME|X', 'XX'].join('')})\\b`);
    expect(later.test('TO'.concat('DO: this'))).toBe(true);
    const everything = globSync(
      ['{src,test,native,images,setup,bench,docs,protocol}/**/*.{ts,rs,sh,py,md}', '*.md', 'Makefile'],
      { cwd: root, exclude: ['**/node_modules/**', '**/target/**'] },
    );
    expect(everything.length).toBeGreaterThan(sources.length);
    expect(everything.filter((file) => later.test(read(file)))).toEqual([]);
  });
});

describe('documents', () => {
  const documents = globSync(['*.md', '.github/**/*.md', 'docs/**/*.md', '{protocol,sdk-python,web}/*.md'], {
    cwd: root,
  }).toSorted();
  const topLevel =
    /^(?:bin|src|test|native|protocol|images|setup|bench|docs|examples|packages|sdk|sdk-python|web)\//;

  it.each(documents)('%s links only to what is there', (file) => {
    const dead = linksOf(read(file)).filter((link) => !resolves(file, link));
    expect(dead).toEqual([]);
  });

  it.each(documents)('%s names only files that are there', (file) => {
    const named = [...read(file).matchAll(/`([^`\s<>*{}…]+)`/g)].map((match) => match[1] ?? '');
    // What `make build` makes is not there before it.
    const paths = named.filter((name) => topLevel.test(name) && !/\/dist(?:\/|$)/.test(name));
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('install no package by a name that a stranger could take on a registry', () => {
    const byName = [
      /\bnp(?:x|m (?:exec|i|install))\b[^\n`]*[\s"',]@?sandhaven(?:\/|@|\s|`|$)/,
      /"-y",\s*"@?sandhaven/,
      /\b(?:pipx?|uv|uvx)\b(?![^\n`]*--no-index)[^\n`]*\s(?:install|run|add)\b[^\n`]*\ssandhaven(?:\s|`|\[|=|$)/,
    ];
    const finds = (text: string) => byName.some((form) => form.test(text));
    for (const text of [
      ...[
        'npx -y @sandhaven/mcp',
        'npm install -g @sandhaven/cli',
        'npm i sandhaven',
        '"-y", "@sandhaven/mcp"',
      ],
      ...['pip install sandhaven', '`pip install -U sandhaven`', 'uv pip install sandhaven==1'],
    ])
      expect(finds(text), text).toBe(true);
    for (const text of [
      ...['npm install http://h/packages/sdk.tgz', "import x from '@sandhaven/sdk'"],
      ...['pip install --no-index --find-links http://h/ sandhaven', 'pip install http://h/sandhaven-1.whl'],
    ])
      expect(finds(text), text).toBe(false);
    const shown = globSync(
      [
        '*.md',
        '{docs,examples,sdk,sdk-python,packages,web,deploy}/**/*.md',
        '{web/src,packages,src}/**/*.{ts,tsx}',
      ],
      { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] },
    );
    expect(shown).toContain('docs/mcp-clients.md');
    expect(shown).toContain('web/src/connect/configurations.ts');
    // It says what was once so.
    const guilty = shown.filter((file) => file !== 'CHANGELOG.md' && finds(read(file)));
    expect(guilty).toEqual([]);
  });

  it('have their links found', () => {
    const text = '[a](b.md) ![i](c.png "title") [x]: d.md\n```\n[no](e.md)\n```\n`[no](f.md)`';
    expect(linksOf(text)).toEqual(['b.md', 'c.png']);
    expect(linksOf('[x]: d.md\n[y][x]')).toEqual(['d.md']);
    expect(resolves('README.md', 'no-such-file.md')).toBe(false);
    expect(resolves('README.md', 'README.md#no-such-heading')).toBe(false);
  });

  function linksOf(text: string): string[] {
    const prose = text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
    const inline = [...prose.matchAll(/\]\(<?([^)\s>]+)/g)];
    const references = [...prose.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)];
    return [...inline, ...references].map((match) => match[1] ?? '');
  }

  function resolves(file: string, link: string): boolean {
    if (/^(?:https?|mailto):/.test(link)) return true;
    const [path = '', heading] = link.split('#');
    const target = path === '' ? file : normalize(join(dirname(file), path));
    if (!existsSync(join(root, target))) return false;
    return heading === undefined || headingsOf(read(target)).includes(heading);
  }

  function headingsOf(text: string): string[] {
    return [...text.matchAll(/^#+\s+(.*)$/gm)].map((match) =>
      (match[1] ?? '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    );
  }
});

/** Files and folders that each folder with sources holds. */
function contents(): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const file of everything) {
    const steps = file.split('/');
    for (let depth = steps[1] === 'src' ? 2 : 1; depth < steps.length; depth++) {
      const folder = steps.slice(0, depth).join('/');
      folders.set(folder, (folders.get(folder) ?? new Set()).add(steps[depth] ?? ''));
    }
  }
  return folders;
}

/** Folders that hold others. */
function layered(): string[] {
  const folders = [...contents().keys()];
  return folders.filter((folder) => folders.some((other) => dirname(other) === folder)).toSorted();
}

/** The folder under src, or the file that lies in src itself or in src/app, where each has its own rule. */
function areaOf(path: string): string {
  const [, folder = '', file = ''] = path.split('/');
  return folder === 'app' ? `app/${file}` : folder;
}

function byTarget(a: Import, b: Import): number {
  return a.target.localeCompare(b.target);
}

function linesOf(file: string): number {
  return read(file).split('\n').length - 1;
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
