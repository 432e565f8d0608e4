/** Contexts of a real agent: what stays between runs, what a run shows, how one is interrupted, and what bounds it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ContextRequest, Display, LivePiece } from '../../src/control/ports/index.ts';
import type { ContextLanguage } from '../../src/model/sandbox.ts';
import { type ScratchSandbox, startScratchSandbox } from './scratch-sandbox.ts';

const ENV = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
};

let sandbox: ScratchSandbox;

beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterEach(async () => {
  const all = await sandbox.agent.listContexts(sandbox.id);
  await Promise.all(all.map(({ contextId }) => sandbox.agent.deleteContext(sandbox.id, contextId)));
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const create = (language: ContextLanguage, more: Partial<ContextRequest> = {}) =>
  sandbox.agent.createContext(sandbox.id, {
    ...{ contextId: language, language, cwd: '.', env: ENV, memoryMb: null, replace: false },
    ...more,
  });

const run = (contextId: string, code: string, timeoutMs = 20_000, signal?: AbortSignal) =>
  sandbox.agent.runInContext(sandbox.id, { contextId, code, timeoutMs }, signal);

const plain = ({ displays }: { displays: Display[] }) => displays.map(({ data }) => data['text/plain']);
const listed = async (contextId: string) =>
  (await sandbox.agent.listContexts(sandbox.id)).find((one) => one.contextId === contextId);

/** Runs with live output; what comes is noted in order. */
async function watched(contextId: string, code: string, whole = true) {
  const seen: string[] = [];
  let bytes = 0;
  const output = {
    whole,
    show({ stream, bytes: piece }: LivePiece) {
      bytes += piece.length;
      if (seen.length < 100) seen.push(`${stream} ${piece.toString().slice(0, 100)}`);
      return undefined;
    },
    display: ({ data }: Display) => void seen.push(`display ${data['text/plain']}`),
  };
  const live = { output, generation: sandbox.generation };
  const request = { contextId, code, timeoutMs: 60_000, live };
  const result = await sandbox.agent.runInContext(sandbox.id, request);
  return { seen, bytes: () => bytes, result };
}

describe('a context of Python', () => {
  it('keeps variables, and shows the value of the last expression', async () => {
    await create('python');
    expect(await run('python', 'x = 20\nprint("set")')).toMatchObject({
      ...{ output: 'set\n', displays: [], error: null, exitCode: null, end: null, run: 1, timedOut: false },
    });
    const next = await run('python', 'x + 1');
    expect([plain(next), next.run]).toEqual([['21'], 2]);
    expect(next.displays[0]?.type).toBe('result');
    expect((await run('python', 'x;')).displays).toEqual([]);
    expect(plain(await run('python', '_ * 2'))).toEqual(['42']);
  });

  it('reports an error by name, value and traceback, and goes on', async () => {
    await create('python');
    const { error, stderr } = await run('python', 'x = 1\ndef f():\n  raise ValueError("no")\nf()');
    expect([error?.name, error?.value, stderr]).toEqual(['ValueError', 'no', '']);
    // Newer versions of Python underline the expression.
    expect(error?.traceback.replace(/^ +[~^]+\n/gm, '')).toBe(
      'Traceback (most recent call last):\n  File "<cell 1>", line 4, in <module>\n    f()\n' +
        '  File "<cell 1>", line 3, in f\n    raise ValueError("no")\nValueError: no\n',
    );
    expect((await run('python', 'if')).error).toMatchObject({ name: 'SyntaxError' });
    expect((await run('python', 'exit(3)')).error).toMatchObject({ name: 'SystemExit', value: '3' });
    expect(plain(await run('python', 'x'))).toEqual(['1']);
  });

  it('awaits at the top, on one loop', async () => {
    await create('python');
    await run('python', 'import asyncio\nevent = asyncio.Event()');
    await run('python', 'asyncio.get_event_loop().call_later(0.01, event.set)');
    expect(plain(await run('python', 'await event.wait()'))).toEqual(['True']);
  });

  it('runs commands of the shell', async () => {
    await create('python');
    const { stdout, stderr } = await run('python', 'if True:\n  !echo one; echo two >&2\n!exit 3');
    expect([stdout, stderr]).toEqual(['one\n', 'two\nexit code 3\n']);
    expect(plain(await run('python', '"""\n!not a command\n"""'))).toEqual(["'\\n!not a command\\n'"]);
  });

  it('shows rich results by media type, between the output', async () => {
    await create('python');
    const { seen, result } = await watched(
      'python',
      'class Rich:\n  def _repr_html_(self): return "<b>x</b>"\n  def _repr_png_(self): return b"png"\n' +
        '  def __repr__(self): return "rich"\nprint("before")\ndisplay(Rich())\nprint("after")\n' +
        'display({"image/svg+xml": "<svg/>", "text/plain": "raw"}, raw=True)\nRich()',
    );
    // Those that come together have one place.
    expect(seen.slice(0, 2)).toEqual(['stdout before\n', 'display rich']);
    const displays = seen.filter((one) => one.startsWith('display'));
    expect(displays).toEqual(['display rich', 'display raw', 'display rich']);
    expect(seen.filter((one) => one.startsWith('stdout'))).toEqual(['stdout before\n', 'stdout after\n']);
    expect(result.displays.map(({ type, data }) => [type, data])).toEqual([
      ['display', { 'text/html': '<b>x</b>', 'image/png': 'cG5n', 'text/plain': 'rich' }],
      ['display', { 'image/svg+xml': '<svg/>', 'text/plain': 'raw' }],
      ['result', { 'text/html': '<b>x</b>', 'image/png': 'cG5n', 'text/plain': 'rich' }],
    ]);
  });

  it('runs code that is indented as a whole, text of several lines too', async () => {
    await create('python');
    const code = '\n    if True:\n        x = """a\n    b"""\n\n    x\n    ';
    expect(plain(await run('python', code))).toEqual(["'a\\nb'"]);
    const wrong = await run('python', '    x\n  y');
    expect(wrong.error?.name).toBe('IndentationError');
  });

  it('shows by IPython.display, without IPython, and pictures of Pillow', async () => {
    await create('python');
    const code = [
      'from IPython.display import HTML, Image, clear_output, display',
      'display(HTML("<b>x</b>"))',
      String.raw`display({"text/latex": r"\text{x}"}, raw=True)`,
      'import IPython',
      'IPython.get_ipython() is None',
    ].join('\n');
    const shown = await run('python', code, 60_000);
    expect(shown.error).toBeNull();
    expect(shown.displays.map(({ data }) => data)).toEqual([
      { 'text/html': '<b>x</b>', 'text/plain': expect.any(String) },
      { 'text/latex': String.raw`\text{x}` },
      { 'text/plain': 'True' },
    ]);
    const picture = await run('python', 'from PIL import Image\nImage.new("RGB", (2, 2)).show()', 60_000);
    expect(picture.displays[0]?.data).toHaveProperty('image/png');
  });

  it('shows data frames as data, and charts as RunCode does', async () => {
    await create('python');
    const frame = await run(
      'python',
      'import pandas\npandas.DataFrame({"a": [1, 2], "b": ["x", None]})',
      60_000,
    );
    expect(frame.displays[0]?.data['application/vnd.dataresource+json']).toMatchObject({
      data: [
        { index: 0, a: 1, b: 'x' },
        { index: 1, a: 2, b: null },
      ],
      total_rows: 2,
    });
    expect(frame.displays[0]?.data['text/html']).toMatch(/<table/);
    const code = 'import matplotlib.pyplot as plt\nplt.plot([1, 2], [3, 4])\nplt.title("T");';
    const chart = await run('python', code, 60_000);
    expect(chart.error).toBeNull();
    expect(chart.displays).toHaveLength(1);
    expect(chart.displays[0]?.chart).toMatchObject({
      ...{ type: 'line', title: 'T' },
      x_ticks: expect.arrayContaining([1, 2]),
      y_tick_labels: expect.arrayContaining(['3.0', '4.0']),
    });
    expect(String(chart.displays[0]?.data['image/png'])).toMatch(/^iVBORw0KGgo/);
    // A chart is shown once.
    expect((await run('python', '1')).displays).toHaveLength(1);
  });
});

describe('a context of JavaScript', () => {
  it('keeps variables, which may be declared again, and awaits', async () => {
    await create('javascript');
    await run('javascript', 'const x = 1; class A {}; function f() { return 5 }');
    expect(
      plain(await run('javascript', 'const x = 2; let y = await Promise.resolve(3); x + y + f()')),
    ).toEqual(['10']);
    expect(plain(await run('javascript', '({ a: [1, new Map([[1, 2]])] })'))).toEqual([
      '{ a: [ 1, Map(1) { 1 => 2 } ] }',
    ]);
    expect((await run('javascript', 'let z = 1')).displays).toEqual([]);
  });

  it('imports modules in each form, and has require', async () => {
    await create('javascript');
    const code =
      "import fs, { existsSync as there } from 'node:fs'\nimport * as os from 'os';\nimport 'node:path'\n" +
      "typeof fs.readFileSync + there('/') + typeof os.cpus + typeof require('fs') + typeof (await import('url')).URL";
    expect(plain(await run('javascript', code))).toEqual(["'functiontruefunctionobjectfunction'"]);
    expect(plain(await run('javascript', 'typeof there'))).toEqual(["'function'"]);
  });

  it('reports errors, shows bundles, and goes on', async () => {
    await create('javascript');
    const { error } = await run('javascript', 'function g() { throw new TypeError("no") }\ng()');
    expect([error?.name, error?.value]).toEqual(['TypeError', 'no']);
    expect(error?.traceback).toBe('TypeError: no\n    at g (cell-1:1:22)\n    at cell-1:2:1');
    expect((await run('javascript', 'throw 5')).error).toMatchObject({ name: 'Uncaught', value: '5' });
    expect((await run('javascript', 'let let')).error).toMatchObject({ name: 'SyntaxError' });
    const { displays } = await run('javascript', 'display({ "text/html": "<i>" }, { raw: true }); 1');
    expect(displays.map(({ data }) => data)).toEqual([{ 'text/html': '<i>' }, { 'text/plain': '1' }]);
  });

  it('takes TypeScript in a context of that language', async () => {
    await create('typescript');
    await run('typescript', "import { sep } from 'node:path';\nenum E { A = 3 }\ninterface P { x: number }");
    expect(plain(await run('typescript', 'const p: P = { x: E.A }; p.x + sep'))).toEqual(["'3/'"]);
  });
});

describe('a context of bash', () => {
  it('keeps variables, functions and the folder, and reports the exit code', async () => {
    await create('bash');
    expect(await run('bash', 'x=5; f() { echo "f $x"; }; cd /tmp')).toMatchObject({
      exitCode: 0,
      error: null,
    });
    expect(await run('bash', 'f; pwd; false')).toMatchObject({ output: 'f 5\n/tmp\n', exitCode: 1 });
    expect(await run('bash', 'echo "open')).toMatchObject({ exitCode: expect.any(Number) });
    expect(await run('bash', 'echo on')).toMatchObject({ output: 'on\n', exitCode: 0 });
  });

  it('ends with its shell, and says so', async () => {
    await create('bash');
    expect(await run('bash', 'exit 7')).toMatchObject({ end: 'Its interpreter ended with exit code 7.' });
    await expect(run('bash', 'echo')).rejects.toMatchObject({
      code: 'failed_precondition',
      message: "Context 'bash' has ended: Its interpreter ended with exit code 7.",
    });
    await create('bash', { replace: true });
    expect(await run('bash', 'echo again')).toMatchObject({ output: 'again\n' });
  });
});

const endless: Record<ContextLanguage, [string, string]> = {
  python: ['while True: pass', 'x'],
  javascript: ['while (true) {}', 'x'],
  typescript: ['await new Promise(() => {})', 'x'],
  bash: ['sleep 100; echo never', 'echo $x'],
};

describe.each(Object.entries(endless))('a context of %s', (name, [code, show]) => {
  const language = name as ContextLanguage;
  const shown = async () => {
    const result = await run(language, show);
    return [...plain(result), result.output].join('').trim();
  };
  const setX = () =>
    run(language, language === 'bash' ? 'x=5' : language === 'python' ? 'x = 5' : 'let x = 5');

  it('is interrupted by a call, at the timeout and by a caller who leaves, and keeps its variables', async () => {
    await create(language);
    await setX();
    const running = run(language, code);
    await expect.poll(async () => (await listed(language))?.busy).toBe(true);
    await sleep(100);
    expect(await sandbox.agent.interruptContext(sandbox.id, language)).toBe(true);
    const interrupted = language === 'bash' ? { exitCode: 130 } : { error: { name: 'KeyboardInterrupt' } };
    expect(await running).toMatchObject({ ...interrupted, timedOut: false, output: '' });
    expect(await shown()).toBe('5');
    expect(await run(language, code, 200)).toMatchObject({ ...interrupted, timedOut: true });
    const left = new AbortController();
    const leaving = run(language, code, 60_000, left.signal);
    await expect.poll(async () => (await listed(language))?.busy).toBe(true);
    await sleep(100);
    left.abort(new Error('left'));
    await expect(leaving).rejects.toThrow('left');
    expect(await shown()).toBe('5');
    expect(await sandbox.agent.interruptContext(sandbox.id, language)).toBe(false);
  });

  it('is interrupted before it has begun, too', async () => {
    await create(language);
    await setX();
    const file = (name: string) => `/tmp/${language}-${name}`;
    const until = (name: string) => `until [ -e ${file(name)} ]; do sleep 0.05; done`;
    const hold = (pid: string) => {
      const held = `kill -STOP ${pid}; touch ${file('held')}`;
      return `setsid sh -c '${until('ran')}; ${held}; ${until('go')}; kill -CONT ${pid}' >/dev/null 2>&1 &`;
    };
    const node = `require('child_process').spawn('sh', ['-c', \`${hold(`\${process.pid}`)}\`]);`;
    const holding = {
      ...{ python: `import os\nos.system(f"""${hold('{os.getpid()}')}""")`, bash: hold(`'$$'`) },
      ...{ javascript: node, typescript: node },
    }[language];
    await run(language, holding);
    await sandbox.sh(`touch ${file('ran')}; ${until('held')}`);
    const running = run(language, code);
    await expect.poll(async () => (await listed(language))?.busy).toBe(true);
    expect(await sandbox.agent.interruptContext(sandbox.id, language)).toBe(true);
    await sandbox.sh(`touch ${file('go')}`);
    const interrupted = language === 'bash' ? { exitCode: 130 } : { error: { name: 'KeyboardInterrupt' } };
    expect(await running).toMatchObject({ ...interrupted, timedOut: false });
    expect(await shown()).toBe('5');
  });
});

describe('contexts', () => {
  it('run one code after another, and wait no longer than their timeout', async () => {
    await create('python');
    const first = run('python', 'import time; time.sleep(0.5); order = 1');
    const second = run('python', 'order += 1; order');
    await expect(run('python', '1', 50)).rejects.toMatchObject({
      code: 'failed_precondition',
      message: "In context 'python' other code runs.",
    });
    await first;
    expect(plain(await second)).toEqual(['2']);
  });

  it('keep code that ignores its interruption to itself, until they are started anew', async () => {
    await create('python');
    const code =
      'import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(1)';
    expect(await run('python', code, 300)).toMatchObject({ timedOut: true, error: null, end: null });
    expect(await listed('python')).toMatchObject({ busy: true, end: null });
    await create('python', { replace: true });
    expect(plain(await run('python', '1'))).toEqual(['1']);
  });

  it('are apart, listed, and known by their ids', async () => {
    await create('python');
    await create('python', { contextId: 'other', cwd: '/tmp' });
    await run('python', 'x = 1');
    expect((await run('other', 'x')).error).toMatchObject({ name: 'NameError' });
    expect(plain(await run('other', 'import os; os.getcwd()'))).toEqual(["'/tmp'"]);
    await expect(create('python')).rejects.toMatchObject({ code: 'already_exists' });
    await expect(run('nope', '1')).rejects.toMatchObject({
      code: 'not_found',
      fields: { resource: 'context' },
    });
    await expect(create('python', { contextId: 'c', cwd: '/nope' })).rejects.toMatchObject({
      code: 'not_found',
    });
    const all = await sandbox.agent.listContexts(sandbox.id);
    expect(all.map(({ contextId, language, cwd, runs }) => [contextId, language, cwd, runs])).toEqual([
      ['python', 'python', '.', 1],
      ['other', 'python', '/tmp', 2],
    ]);
  });

  it.each<[ContextLanguage, string]>([
    ['python', 'import os; print(os.environ.get("A"), os.environ["HOME"])'],
    ['javascript', 'console.log(process.env.A, process.env.HOME)'],
    ['bash', 'sh -c \'printenv A || echo None; echo "$HOME"\' | paste -sd " "'],
  ])('of %s have variables of one run', async (language, code) => {
    await create(language);
    const env = { A: "b'c", HOME: '/other' };
    const request = { contextId: language, code, env, timeoutMs: 20_000 };
    expect((await sandbox.agent.runInContext(sandbox.id, request)).output).toBe("b'c /other\n");
    const none = language === 'javascript' ? 'undefined' : 'None';
    expect((await run(language, code)).output).toBe(`${none} /root\n`);
    await expect(
      sandbox.agent.runInContext(sandbox.id, { ...request, env: { 'a b': '' } }),
    ).rejects.toMatchObject({ code: 'invalid_argument', fields: { parameter: 'env' } });
  });

  it('run as a user of the sandbox', async () => {
    await create('python', { user: 'ann' });
    expect(plain(await run('python', 'import os; (os.getuid(), os.getcwd())'))).toEqual([
      "(1000, '/home/ann')",
    ]);
    expect((await listed('python'))?.user).toBe('ann');
  });

  it('raise an error at their bound of memory, and go on', async () => {
    await create('python', { memoryMb: 200 });
    expect((await run('python', 'x = bytearray(300 << 20)')).error).toMatchObject({ name: 'MemoryError' });
    expect(plain(await run('python', '1'))).toEqual(['1']);
    await create('javascript', { memoryMb: 64 });
    const { end } = await run(
      'javascript',
      'const a = []; for (;;) a.push(new Array(1000).fill(1.5))',
      60_000,
    );
    expect(end).toBe('SIGABRT ended it.');
  });

  it('die alone, with all that they have started', async () => {
    await create('bash');
    await create('python');
    await run('bash', 'sleep 1000 & setsid sleep 1001 & disown');
    expect((await run('python', 'import os; os.kill(os.getpid(), 9)')).end).toBe('SIGKILL ended it.');
    expect(await run('bash', 'echo lives')).toMatchObject({ output: 'lives\n' });
    await sandbox.agent.deleteContext(sandbox.id, 'bash');
    expect((await sandbox.sh('pgrep -c sleep; true')).output.trim()).toBe('0');
  });

  it('are at most 64', async () => {
    const ids = Array.from({ length: 64 }, (_, index) => `c${index}`);
    for (const contextId of ids) await create('bash', { contextId });
    await expect(create('bash', { contextId: 'more' })).rejects.toMatchObject({ code: 'resource_exhausted' });
    await Promise.all(ids.map((contextId) => run(contextId, 'x=1')));
  });
});

describe('output of a run', () => {
  it('comes whole while it runs, however much it is, and is kept within its bound', async () => {
    await create('python');
    const code = 'import sys\nfor _ in range(320): sys.stdout.write("x" * 65_536)\nprint("end")';
    const { bytes, result } = await watched('python', code);
    expect([bytes(), result.truncated, result.error]).toEqual([320 * 65_536 + 4, true, null]);
    expect(result.stdout.length).toBeLessThan(1_100_000);
    expect(await run('python', 'print(1)')).toMatchObject({ output: '1\n', truncated: false });
  });

  it('keeps the order of both streams', async () => {
    await create('python');
    const code = 'import sys\nfor i in range(5):\n  print(i)\n  print(i, file=sys.stderr)';
    expect((await run('python', code)).output).toBe('0\n0\n1\n1\n2\n2\n3\n3\n4\n4\n');
  });

  it('of threads between two runs belongs to the next', async () => {
    await create('python');
    await run('python', 'import threading\nthreading.Timer(0.05, lambda: print("late")).start()');
    await sleep(300);
    expect((await run('python', 'print("now")')).output).toBe('late\nnow\n');
  });

  it('has a bound on what is displayed, and says what is left out', async () => {
    await create('python');
    const many = await run('python', 'for i in range(150): display(i)');
    expect([many.displays.length, many.leftOut]).toEqual([100, 50]);
    const large = await run('python', 'for i in range(5): display({"text/html": "x" * 3_000_000}, raw=True)');
    expect([large.displays.length, large.leftOut]).toEqual([4, 1]);
  });
});

describe('code that attacks its channel', () => {
  it.each([
    [
      'a message without end',
      'import os\nos.write(4, b"x" * 100_000)\nwhile True: os.write(4, b"x" * 100_000)',
    ],
    ['no message', 'import os, time\nos.write(4, b"nonsense\\0")\ntime.sleep(60)'],
    ['a closed channel', 'import os, time\nos.close(4)\ntime.sleep(60)'],
  ])('ends itself with %s', async (_, code) => {
    await create('python');
    await create('bash');
    const attack = run('python', code);
    expect(await run('bash', 'echo other')).toMatchObject({ output: 'other\n' });
    expect((await attack).end).toBe('Its code wrote to the channel of the interpreter.');
    expect(await run('bash', 'echo other')).toMatchObject({ output: 'other\n' });
  });

  it('shows what it likes, within bounds', async () => {
    await create('python');
    const write = (text: string) => `import os\nos.write(4, b'${text}\\0')`;
    expect((await run('python', write('{"display":{"type":"evil","data":{}}}'))).leftOut).toBe(1);
    const deep = `{"display":{"type":"result","data":{"a":${'['.repeat(100)}${']'.repeat(100)}}}}`;
    expect((await run('python', write(deep))).leftOut).toBe(1);
    expect(await run('python', write('{"done":{"error":null}}'))).toMatchObject({ error: null });
  });
});
