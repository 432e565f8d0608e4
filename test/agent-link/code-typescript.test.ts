/** TypeScript runs as Node itself runs it: each program is compared with its run where the image's starter is missing. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inPart } from '../deep/parts.ts';
import { type ScratchSandbox, startScratchSandbox } from './scratch-sandbox.ts';

const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/root', LANG: 'C.UTF-8' };
const STARTER = '/usr/local/libexec/sandhaven-typescript';

const files = {
  'lib.ts': 'console.log("lib loads"); export enum Q { A = 3 }; export const id = <T,>(x: T): T => x;',
  'thrower.ts':
    'interface A { b: number }\nexport function fail(a: A): never {\n  throw new Error("at " + a.b);\n}',
  'child.ts': 'enum E { A = 7 }; console.log("child", E.A, process.execArgv);',
};

const programs = {
  nothing: '',
  'a comment alone': '// nothing',
  enums: 'enum C { Red = 1, Blue, Text = "t" } const enum D { A = 5 } console.log(C, C[2], D.A);',
  namespaces:
    'namespace N.M { export const a = 1; export namespace O { export type T = string } } console.log(N);',
  'parameter properties':
    'class P { constructor(public x: number, private readonly y = 2) {} } console.log(new P(1));',
  'imports of its own files': 'import { Q, id } from "./lib.ts"; console.log(id<Q>(Q.A));',
  'imports as they run':
    'const { id } = await import("./lib.ts"); console.log(id(2), import.meta.url, import.meta.filename);',
  'require, module and main':
    'console.log(require.main === module, typeof require("node:fs").statSync, typeof __filename);',
  exports:
    'export const a: number = 1; export type { Stats } from "node:fs"; export default a; console.log(a);',
  'await at the top':
    'const x: number = await Promise.resolve(5); for await (const y of [x]) console.log(y);',
  arguments:
    'console.log(process.argv.length, process.argv0, process.execArgv, process.cwd(), process.title);',
  'an empty standard input':
    'import { readFileSync } from "node:fs"; console.log([readFileSync(0, "utf8")]);',
  'workers and processes': `
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
await once(fork('child.ts'), 'exit');
await once(new Worker('./child.ts'), 'exit');`,
  'the status of process.exit': 'const status: number = 4; process.exit(status);',
  'the status of process.exitCode': 'process.exitCode = 7; console.log("end" as string);',
  'a signal': 'process.kill(process.pid, "SIGKILL" as const); await new Promise(() => {});',
  'an await that never ends': 'await new Promise<void>(() => {});',
  'letters of all kinds': 'const é: string = "😀 \\u{1F600} \\ud800 \u2028"; console.log(é, é.length);',
  'a mark of byte order': '\uFEFFconst a: number = 1; console.log(a);',
  'ends of lines of two characters':
    'const a: number = 1;\r\nconst t: string = `x\r\ny`;\r\nconsole.log(a, t.length);\r\n',
  'a line for the shell': '#!/usr/bin/env node\nconst a: number = 1; console.log(a);',
  'a source map of its own': 'const a: number = 1; console.log(a);\n//# sourceMappingURL=absent.js.map',
  'errors with their place':
    'interface A { b: number }\n\nfunction f(a: A): never { throw new Error("x" + a.b) }\nenum E { A }\nf({ b: 1 });',
  'the stack as a value':
    'type T = string;\nclass A { constructor(readonly x: T) { console.log(new Error("e").stack) } }\nnew A("a");',
  'the stack without source maps':
    'type T = string;\n\nconst p = Error.prepareStackTrace;\nError.prepareStackTrace = (_, s) => s.map((x) => [x.getLineNumber(), x.getFileName()]);\nconsole.log((new Error("e") as any).stack);',
  'errors of its own files': 'import { fail } from "./thrower.ts";\nconst n: number = 1;\nfail({ b: n });',
  'a rejection that nothing handles': 'type T = string;\nPromise.reject(new TypeError("no" as T));\nawait 0;',
  'a missing value': 'const a: number = ;',
  'deep brackets': `const a = ${'('.repeat(100_000)}1${')'.repeat(100_000)}; console.log(a)`,
  'a long text': `const a: string = "${'y'.repeat(1 << 20)}"; console.log(a.length);`,
  'a longer text than the starter takes': `const a: string = "${'y'.repeat(5 << 20)}"; console.log(a.length);`,
};

/** What is left of the language, in a part. */
const constructs = {
  types:
    'type A = { b?: number }; interface B extends A { c: string }\nconst x: B = { c: "d" }; console.log(x as A, x!);',
  'type arguments':
    'function same<T>(x: T): T { return x }\nconsole.log(same<string>("s"), new Map<string, number>());',
  'assertions of both kinds': 'const x = <any>"y" satisfies string; console.log(x as const);',
  'an enum of two parts': 'enum C { A } enum C { B = 1 } declare enum E { F } console.log(C);',
  'a namespace without values': 'namespace N { export type A = string } console.log(typeof globalThis["N"]);',
  'the older keyword of namespaces': 'module N { export const a = 1 } console.log(N.a);',
  'fields without values':
    'class A { x: number; declare y: number; static z?: string } console.log(Object.keys(new A()), A);',
  'fields over those of a base':
    'class A { x = 1 } class B extends A { x: number } class C extends A { declare x: number }\nconsole.log(new B(), new C());',
  'abstract and overloaded members':
    'abstract class A { abstract f(): void; g(x: string): string; g(x: any) { return x } }\nclass B extends A { override f() {} } console.log(new B().g("g"));',
  decorators: 'function d(x: any) { return x } @d class A {} console.log(A);',
  'a resource of a block':
    '{ using r = { [Symbol.dispose]() { console.log("gone") } }; console.log("here"); }',
  'declarations of the surroundings':
    'declare const absent: string; declare function f(): void; console.log(typeof absent);',
  'parameters named this':
    'function f(this: { a: number }, b?: string) { return this.a } console.log(f.call({ a: 1 }), f.length);',
  'types inside of templates': `console.log(\`\${(1 as number) + 1} \${\`\${"in" as string}\`}\`);`,
  'arrow functions with line breaks':
    'const f = <T,>(\n  x: T,\n): T =>\n  x;\nconst g = async (): Promise<void> => {};\nconsole.log(f(1), await g());',
  'statements without semicolons':
    'const a: number = 1\ntype T = string\n;[1].forEach((x: number) => console.log(x + a))',
  'imports that nothing uses':
    'import { Q } from "./lib.ts"; import type { Stats } from "node:fs"; console.log("end");',
  'imports of types as values': 'import { Stats, type Dirent } from "node:fs"; console.log(typeof Stats);',
  'imports of types that are none': 'import { id, T } from "./lib.ts"; console.log(id(1));',
  'imports by assignment': 'import fs = require("node:fs"); console.log(typeof fs.statSync);',
  'exports by assignment': 'export = { a: 1 };',
  'an error that is no object': 'throw "text" as unknown;',
  'an error with a cause':
    'try { JSON.parse("{") } catch (e: unknown) { throw new Error("o", { cause: e }) }',
  'a trace and a warning': 'const n: number = 1;\nconsole.trace(n); console.warn("w");',
  'a missing bracket': 'function f(a: number { return a }',
  'an unfinished text': 'const a: string = "b',
  'a type alone': 'const a: = 1;',
  'JavaScript that is wrong': 'const a: number = 1; const a: number = 2;',
  'a keyword as a name': 'const await: number = 1;',
  'a return at the top': 'return 1 as number;',
  JSX: 'const a = <div>text</div>;',
};

let sandbox: ScratchSandbox;
let plain: ScratchSandbox;
beforeAll(async () => {
  [sandbox, plain] = await Promise.all([startScratchSandbox(), startScratchSandbox()]);
  for (const one of [sandbox, plain]) {
    for (const [path, text] of Object.entries(files)) {
      await one.sh(`echo ${Buffer.from(text).toString('base64')} | base64 -d >${path}`);
    }
  }
  await plain.sh(`rm ${STARTER}`);
});
afterAll(async () => {
  await Promise.all([sandbox, plain].map((one) => one?.[Symbol.asyncDispose]()));
});

it.each(Object.entries({ ...programs, ...(inPart('programs') ? constructs : {}) }))(
  '[SBX-CODE-01] runs as Node runs it: %s',
  async (_, code) => {
    const [run, own] = [await typescript(sandbox, code), await typescript(plain, code)];
    expect(told(run)).toEqual(told(own));
  },
);

const LANGUAGE = `console.log(require('node:fs').readFileSync('/proc/self/cmdline', 'utf8').split('\\0').filter((one: string) => /^--input-type/.test(one)))`;

it('Node gets JavaScript, which spares it its own reader of types', async () => {
  expect((await typescript(sandbox, LANGUAGE)).stdout).toBe("[ '--input-type=module' ]\n");
  expect((await typescript(plain, LANGUAGE)).stdout).toBe("[ '--input-type=module-typescript' ]\n");
});

it.each([
  ['cannot run', `chmod 644 ${STARTER}`],
  ['is no program', `echo text >${STARTER}`],
  ['is a folder', `rm ${STARTER} && mkdir ${STARTER}`],
])('a starter that %s is left out', async (_, change) => {
  await using broken = await startScratchSandbox();
  await broken.sh(change);
  expect(await typescript(broken, 'console.log(1 as number)')).toMatchObject({ output: '1\n', exitCode: 0 });
});

it('[WIRE-EXEC-14] Node that is not there is failed_precondition, with the starter too', async () => {
  const code = 'console.log(1 as number)';
  const env = { PATH: '/nowhere' };
  const call = sandbox.agent.runCode(sandbox.id, { language: 'typescript', code, env, timeoutMs: 10_000 });
  await expect(call).rejects.toMatchObject({
    code: 'failed_precondition',
    fields: { resource: 'interpreter' },
  });
});

it('the starter is made of what Node has its own reader of types from', async () => {
  // Cargo.toml of images/base/typescript has the crates of this release.
  const { stdout } = await typescript(sandbox, 'console.log(process.versions.amaro)');
  expect(stdout).toBe('1.1.11\n');
});

const typescript = (where: ScratchSandbox, code: string) =>
  where.agent.runCode(where.id, { language: 'typescript', code, env: ENV, timeoutMs: 60_000 });

/** Without ids of processes. */
const told = ({ stdout, stderr, exitCode }: Awaited<ReturnType<typeof typescript>>) => ({
  status: exitCode,
  output: stdout,
  errors: stderr.replace(/\(node:\d+\)/g, '(node)').replace(LAST_LINE, ''),
});

/** Node drops it where what it printed before is still in the pipe. */
const LAST_LINE = /\s*(Node\.js v[\d.]+\n)?$/;
