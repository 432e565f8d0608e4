import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chart } from '../../src/control/ports/index.ts';
import type { Language } from '../../src/model/sandbox.ts';
import { type ScratchSandbox, startScratchSandbox } from './scratch-sandbox.ts';

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/root', LANG: 'C.UTF-8' };
const run = (language: Language, code: string, timeoutMs = 60_000) =>
  sandbox.agent.runCode(sandbox.id, { language, code, env: ENV, timeoutMs });
const python = (code: string, timeoutMs?: number) => run('python', code, timeoutMs);
const javascript = (code: string) => run('javascript', code);
const typescript = (code: string) => run('typescript', code);

describe('python', () => {
  it('[SBX-CODE-01] gives what it prints and its exit code', async () => {
    expect(await python('import sys; print("é"); print("e", file=sys.stderr); sys.exit(3)')).toMatchObject({
      stdout: 'é\n',
      stderr: 'e\n',
      exitCode: 3,
      charts: [],
    });
    expect(await python('raise SystemExit("why")')).toMatchObject({ stderr: 'why\n', exitCode: 1 });
  });

  it('[SBX-CODE-02] of any text and length gets there as it is', async () => {
    const text = `\\ ' " $HOME \`id\` %s \t é 😀`;
    expect((await python(`print(${JSON.stringify(text)})`)).stdout).toBe(`${text}\n`);
    expect((await python(`x = '${'y'.repeat(20 << 20)}'\nprint(len(x))`)).stdout).toBe(`${20 << 20}\n`);
    expect(await python('')).toMatchObject({ output: '', exitCode: 0 });
  });

  it('[SBX-CODE-04] knows nothing of the call before, nor of how it is run', async () => {
    await python('leftover = 1');
    const { stdout } = await python(
      'import os, sys; print(sorted(globals())); print(__name__, os.getcwd(), sys.path[0] == "")',
    );
    expect(stdout).not.toContain('leftover');
    expect(stdout).toContain(
      "['__builtins__', '__doc__', '__loader__', '__name__', '__package__', '__spec__', 'os', 'sys']",
    );
    expect(stdout).toContain('__main__ /workspace True\n');
  });

  it('tracebacks show its own lines and no others', async () => {
    const { stderr, exitCode } = await python('def f(x):\n    return 1 / x\n\nf(0)\n');
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^Traceback \(most recent call last\):\n {2}File "<code>", line 4, in <module>\n {4}f\(0\)/,
    );
    expect(stderr).toContain('return 1 / x');
    expect(stderr).toMatch(/ZeroDivisionError: division by zero\n$/);
    expect(stderr.match(/File /g)).toHaveLength(2);
    const syntax = await python('print(1)\nprint("a"');
    expect(syntax.stderr).toMatch(/^ {2}File "<code>", line 2\n {4}print\("a"\n/);
    expect(syntax).toMatchObject({ stdout: '', exitCode: 1 });
  });

  it('is an ordinary main program: imports, classes, threads, exit handlers, children', async () => {
    await sandbox.sh('echo "value = 7" > local_module.py');
    const { output, exitCode } = await python(`
import atexit, inspect, local_module, multiprocessing, pickle, threading
class Point:
    def norm(self): return 0
print(pickle.loads(pickle.dumps(Point())).__class__, local_module.value)
print(inspect.getsource(Point.norm).strip())
atexit.register(print, 'exit')
ended = threading.Event()
threading.Thread(target=lambda: (ended.wait(), print('thread'))).start()
with multiprocessing.get_context('fork').Pool(2) as pool:
    print(pool.map(len, ['a', 'bb']))
print('end')
ended.set()`);
    expect(output).toBe("<class '__main__.Point'> 7\ndef norm(self): return 0\n[1, 2]\nend\nthread\nexit\n");
    expect(exitCode).toBe(0);
  });

  it('does not import what it was not asked for', async () => {
    const { stdout } = await python(
      'import sys; print([m for m in sys.modules if m.startswith(("matplotlib", "numpy", "json"))])',
    );
    expect(stdout).toBe('[]\n');
  });

  it('its children get neither the code nor the charts’ descriptor', async () => {
    const { stdout } = await python(
      'import subprocess; subprocess.run(["ls", "/proc/self/fd"], close_fds=False)',
    );
    expect(stdout).toBe('0\n1\n2\n3\n');
  });

  it('has defaults for its libraries, which the environment overrides', async () => {
    const names = ['MPLBACKEND', 'OPENBLAS_THREAD_TIMEOUT'];
    const code = `import os; print(*map(os.environ.get, ${JSON.stringify(names)}))`;
    expect((await python(code)).stdout).toBe('Agg 20\n');
    const env = { ...ENV, MPLBACKEND: 'svg', OPENBLAS_THREAD_TIMEOUT: '26' };
    const request = { language: 'python', code, env, timeoutMs: 60_000 } as const;
    expect((await sandbox.agent.runCode(sandbox.id, request)).stdout).toBe('svg 26\n');
  });

  it('at the timeout what it printed is there', async () => {
    expect(await python('import time; print("begun"); time.sleep(60)', 700)).toMatchObject({
      stdout: 'begun\n',
      exitCode: 124,
      timedOut: true,
    });
  });
});

describe('charts', () => {
  const chartsOf = async (code: string) => (await python(`import matplotlib.pyplot as plt\n${code}`)).charts;
  const described = (charts: Chart[]) => charts.map(({ png, ...rest }) => rest);
  const axes = { x_label: null, y_label: null, x_scale: 'linear', y_scale: 'linear' };

  it('[WIRE-EXEC-12] are the figures shown and those left open, once each', async () => {
    const charts = await chartsOf(`
plt.plot([1, 2]); plt.title('shown'); plt.show()
plt.plot([3, 4]); plt.title('next'); plt.show()
plt.figure(); plt.plot([5, 6]); plt.title('closed'); plt.close()
plt.figure(); plt.plot([7, 8]); plt.title('left')
plt.figure()
raise ValueError`);
    expect(charts.map(({ title }) => title)).toEqual(['shown', 'next', 'left']);
    expect(
      Buffer.from(charts[0]?.png ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
  });

  it('[WIRE-EXEC-11] have their texts, scales and data', async () => {
    const [line] = described(
      await chartsOf(`
plt.plot([1, 10], [4.5, float('nan')], label='a'); plt.title('T'); plt.xlabel('X'); plt.ylabel('Y'); plt.xscale('log')`),
    );
    expect(line).toEqual({
      type: 'line',
      title: 'T',
      x_label: 'X',
      y_label: 'Y',
      x_scale: 'log',
      y_scale: 'linear',
      elements: [
        {
          label: 'a',
          points: [
            [1, 4.5],
            [10, null],
          ],
        },
      ],
    });
  });

  it('[WIRE-EXEC-11] distinguish scatter, bar, pie, box and several in one', async () => {
    const [scatter, bar, pie, box, composite] = described(
      await chartsOf(`
plt.scatter([1, 2], [3, 4], label='s')
plt.figure(); plt.bar(['p', 'q'], [3, 4], label='g'); plt.barh
plt.figure(); plt.pie([1, 3], labels=['u', 'v'])
plt.figure(); plt.boxplot([[1, 2, 3, 4, 50]], tick_labels=['m'])
figure, (left, right) = plt.subplots(1, 2); figure.suptitle('S'); left.plot([0, 1]); right.barh(['h'], [2])`),
    );
    expect(scatter).toMatchObject({
      type: 'scatter',
      elements: [
        {
          label: 's',
          points: [
            [1, 3],
            [2, 4],
          ],
        },
      ],
    });
    expect(bar).toMatchObject({
      type: 'bar',
      x_scale: 'categorical',
      elements: [
        { label: 'p', value: 3, group: 'g' },
        { label: 'q', value: 4, group: 'g' },
      ],
    });
    expect(pie).toMatchObject({
      type: 'pie',
      elements: [
        { label: 'u', angle: 90, radius: 1 },
        { label: 'v', angle: 270, radius: 1 },
      ],
    });
    expect(box).toMatchObject({
      type: 'box',
      elements: [{ label: 'm', min: 1, q1: 2, median: 3, q3: 4, max: 4, outliers: [50] }],
    });
    expect(composite).toMatchObject({ type: 'composite', title: 'S' });
    expect(composite?.elements).toMatchObject([
      {
        ...axes,
        type: 'line',
        elements: [
          {
            points: [
              [0, 0],
              [1, 1],
            ],
          },
        ],
      },
      { type: 'bar', y_scale: 'categorical', elements: [{ label: 'h', value: 2 }] },
    ]);
  });

  it('of dates have dates, of heat maps no elements', async () => {
    const [dates, frame, map] = described(
      await chartsOf(`
import datetime, pandas
plt.plot([datetime.date(2024, 1, 1)], [1])
pandas.Series([1, 2], index=pandas.date_range('2024-01-01', periods=2)).plot(ax=plt.figure().gca())
figure, one = plt.subplots(); figure.colorbar(one.imshow([[1, 2]]))`),
    );
    expect(dates).toMatchObject({
      x_scale: 'datetime',
      elements: [{ points: [['2024-01-01T00:00:00+00:00', 1]] }],
    });
    expect(frame).toMatchObject({
      x_scale: 'datetime',
      elements: [
        {
          points: [
            ['2024-01-01T00:00:00', 1],
            ['2024-01-02T00:00:00', 2],
          ],
        },
      ],
    });
    expect(map).toMatchObject({ type: 'unknown', elements: [] });
  });

  it('are bounded in number, points and size', async () => {
    const result = await python(`
import matplotlib.pyplot as plt, numpy
plt.plot(numpy.arange(100_000)); plt.show()
for i in range(25):
    plt.figure(figsize=(1, 1)); plt.text(0.5, 0.5, str(i))`);
    expect(result.charts).toHaveLength(20);
    expect(result.stderr).toContain('Only the first 20 charts are returned.');
    expect(result.charts[0]?.elements).toMatchObject([{ total_points: 100_000 }]);
    const [series] = (result.charts[0]?.elements ?? []) as { points: unknown[] }[];
    expect(series?.points).toHaveLength(5_000);
  });

  it('[WIRE-EXEC-13] are nothing that the code prints, and junk in their channel is none', async () => {
    const { charts, output } = await python(`
import os, struct
text = b'{"type":"line"}'
message = struct.pack('<I', len(text)) + text + struct.pack('<I', 3) + b'png'
os.write(1, message); os.write(4, message); os.write(4, b'junk' * 50_000)
print('end')`);
    expect(charts).toEqual([]);
    expect(output.endsWith('end\n')).toBe(true);
  });
});

describe('javascript', () => {
  it('has require, import and top-level await, whichever it uses', async () => {
    await sandbox.sh("echo 'exports.k = 9' > c.cjs; echo 'export default 8' > m.mjs");
    for (const [code, expected] of [
      ['console.log(require("./c.cjs").k, require.main === module)', '9 true\n'],
      [
        'import m from "./m.mjs"; console.log(m, require("./c.cjs").k, require.main === module)',
        '8 9 true\n',
      ],
      ['const { k } = require("./c.cjs"); console.log(await Promise.resolve(k))', '9\n'],
      ['const m = await import("./m.mjs"); console.log(m.default, process.cwd())', '8 /workspace\n'],
      ['sloppy = 5; console.log(sloppy)', '5\n'],
    ]) {
      expect(await javascript(code as string)).toMatchObject({ output: expected, exitCode: 0 });
    }
  });

  it('errors show the line, and types are an error', async () => {
    const { stderr, exitCode } = await javascript('const a = 1;\nthrow new TypeError("bad");');
    expect(stderr).toContain('throw new TypeError("bad");');
    expect(stderr).toContain('TypeError: bad');
    expect(exitCode).toBe(1);
    expect(await javascript('process.exit(4)')).toMatchObject({ exitCode: 4, output: '' });
    expect((await javascript('const a: number = 1')).stderr).toContain('SyntaxError');
  });

  it('of any length gets there', async () => {
    expect((await javascript(`/*${'x'.repeat(20 << 20)}*/ console.log('end')`)).stdout).toBe('end\n');
  });
});

describe('typescript', () => {
  it('has types, enums, namespaces, parameter properties, require, import and await', async () => {
    await sandbox.sh("echo 'export enum Q { A = 3 }' > lib.ts");
    const { output, exitCode } = await typescript(`
import { Q } from './lib.ts';
import type { Stats } from 'node:fs';
const fs: typeof import('node:fs') = require('node:fs');
enum Color { Red = 1, Blue }
namespace Inner { export const a = 1 }
class P { constructor(public x: number) {} }
const id = <T,>(x: T): T => x;
function same<T>(x: T): T { return x }
const stats: Stats = fs.statSync('.');
console.log(same<string>('s'), id(Q.A), Color.Blue, Inner.a, new P(4).x, await Promise.resolve(5), stats.isDirectory());`);
    expect(output).toBe('s 3 2 1 4 5 true\n');
    expect(exitCode).toBe(0);
  });

  it('starts workers and processes of its own', async () => {
    const { output } = await typescript(`
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
require('node:fs').writeFileSync('child.ts', 'enum E { A = 7 }; console.log("child", E.A)');
await once(fork('child.ts'), 'exit');
await once(new Worker('console.log("worker")', { eval: true }), 'exit');`);
    expect(output).toBe('child 7\nworker\n');
  });

  it('shows the text and the place of an error', async () => {
    const syntax = await typescript('const a: number = ;');
    expect(syntax.stderr).toContain('const a: number = ;');
    expect(syntax.exitCode).toBe(1);
    const thrown = await typescript(
      'interface A { b: number }\n\nfunction f(a: A): never { throw new Error("x" + a.b) }\nf({ b: 1 });',
    );
    expect(thrown.stderr).toContain('Error: x1');
    expect(thrown.stderr).toMatch(/:3:\d+\)/);
  });
});

it('[WIRE-EXEC-14] an interpreter that is not there is failed_precondition', async () => {
  const call = sandbox.agent.runCode(sandbox.id, {
    language: 'python',
    code: 'print(1)',
    env: { PATH: '/nowhere' },
    timeoutMs: 1_000,
  });
  await expect(call).rejects.toMatchObject({
    code: 'failed_precondition',
    fields: { resource: 'interpreter' },
  });
});
