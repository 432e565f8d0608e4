// A context's interpreter for JavaScript and TypeScript: evaluates each code that comes on descriptor 3, behind its variables, as DevTools would, so that
// variables stay, may be declared again, and `await` works anywhere. It answers there. Every message ends in NUL.
import { writeFileSync, writeSync } from 'node:fs';
import inspector from 'node:inspector';
import Module, { createRequire } from 'node:module';
import { Socket } from 'node:net';
import util from 'node:util';
import vm from 'node:vm';

const CONTROL_FD = 3;
const MAX_MIME_CHARS = 3 << 20;
const MAX_TEXT_CHARS = 200_000;
const JUPYTER = Symbol.for('Jupyter.display');

const session = new inspector.Session();
session.connect();
const control = new Socket({ fd: CONTROL_FD, readable: true, writable: true });
const held = { value: undefined };
let cells = 0;
let interrupt = () => {};
/** The run in progress. */
let begun = {};

globalThis.require = createRequire(`${process.cwd()}/`);
globalThis.display = (value, { raw = false } = {}) => show('display', raw ? bounded(value) : bundle(value));
Object.defineProperty(globalThis, '__sandhaven', {
  value: { import: (name) => import(name), hold, evaluate },
});

process.execArgv = [];
process.on('SIGINT', () => interrupt());
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => console.error('Uncaught', error));
}
try {
  // Of all that runs in the sandbox, the kernel ends contexts first when memory is exhausted.
  writeFileSync('/proc/self/oom_score_adj', '500');
} catch {}

function hold(value) {
  held.value = value;
}

async function run(variables, text) {
  cells += 1;
  let error = null;
  const before = Object.keys(variables).map((name) => [name, process.env[name]]);
  Object.assign(process.env, variables);
  const interrupted = new Promise((_, reject) => {
    interrupt = () => reject(new Interrupted());
  });
  interrupted.catch(() => {});
  try {
    begun = { code: prepared(text) };
    // The watchdog of this flag ends code that never lets the loop run.
    vm.runInThisContext('__sandhaven.evaluate()', { breakOnSigint: true });
    const value = await Promise.race([begun.promise, interrupted]);
    if (value !== undefined) show('result', bundle(value));
  } catch (caught) {
    error = describe(caught?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED' ? new Interrupted() : caught);
  }
  interrupt = () => {};
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  answer({ done: { error } });
}

/** Says that it has begun once the watchdog stands: an interruption before it would be lost. */
function evaluate() {
  answer('begun');
  const expression = `${begun.code}\n//# sourceURL=cell-${cells}`;
  const { promise, resolve, reject } = Promise.withResolvers();
  // An interruption leaves here at any place.
  promise.catch(() => {});
  begun.promise = promise;
  const options = { expression, replMode: true, awaitPromise: true };
  session.post('Runtime.evaluate', options, (failed, answered) => {
    if (failed) return reject(failed);
    const { result, exceptionDetails } = answered;
    const value = realValue(exceptionDetails?.exception ?? result);
    if (exceptionDetails) reject(util.types.isNativeError(value) ? value : new Thrown(value));
    else resolve(value);
  });
}

/** Turns what the inspector shows of a value into the value. */
function realValue(remote) {
  const { objectId, unserializableValue, value } = remote;
  if (!objectId) {
    if (unserializableValue === undefined) return value;
    return vm.runInThisContext(`(${unserializableValue})`);
  }
  const functionDeclaration = 'function () { __sandhaven.hold(this); }';
  session.post('Runtime.callFunctionOn', { functionDeclaration, objectId }, () => {});
  session.post('Runtime.releaseObject', { objectId }, () => {});
  const found = held.value;
  held.value = undefined;
  return found;
}

/** Scripts have no import declarations, and V8 gives those of the inspector no `import()`. */
function prepared(text) {
  const code = text
    .replace(/^([ \t]*)import\s+(?!type\b)([^'"();]+?)\s+from\s*(['"][^'"\n]+['"])[^\n;]*;?/gm, imported)
    .replace(/^([ \t]*)import\s*(['"][^'"\n]+['"])[ \t]*;?/gm, '$1await __sandhaven.import($2);')
    .replace(/(?<![.\w$])import\s*\(/g, '__sandhaven.import(');
  if (process.argv[2] !== 'typescript') return code;
  return Module.stripTypeScriptTypes(code, { mode: 'transform' });
}

function imported(_, indent, names, from) {
  const parts = names.match(/\{[^}]*\}|\*\s*as\s+[\w$]+|[\w$]+/g) ?? [];
  const made = parts.map((part) => {
    if (part.startsWith('*')) return `${part.replace(/\*\s*as\s+/, '')} = __module`;
    if (!part.startsWith('{')) return `{ default: ${part} } = __module`;
    const kept = part.replace(/\btype\s+[\w$]+(\s+as\s+[\w$]+)?\s*,?/g, '').replace(/\s+as\s+/g, ': ');
    return `${kept} = __module`;
  });
  const all = made.map((one) => one.replace('__module', `await __sandhaven.import(${from})`));
  return `${indent}const ${all.join(', ')};`;
}

class Interrupted extends Error {
  name = 'KeyboardInterrupt';
  constructor() {
    super('The code was interrupted.');
    this.stack = `${this.name}: ${this.message}`;
  }
}

class Thrown extends Error {
  constructor(value) {
    super(util.inspect(value));
    this.name = 'Uncaught';
    this.stack = `Uncaught ${this.message}`;
  }
}

function describe(error) {
  try {
    const lines = String(error.stack ?? error).split('\n');
    const own = lines.findIndex((line) => /at Session\.post \(node:inspector|at evaluate \(file:/.test(line));
    const traceback = (own < 0 ? lines : lines.slice(0, own)).join('\n');
    return { name: clip(String(error.name)), value: clip(String(error.message)), traceback: clip(traceback) };
  } catch {
    return { name: 'Error', value: '', traceback: '' };
  }
}

function bundle(value) {
  const data = {};
  try {
    if (typeof value?.[JUPYTER] === 'function') Object.assign(data, value[JUPYTER]());
  } catch {}
  data['text/plain'] ??= util.inspect(value, { depth: 4, maxArrayLength: 100 });
  return bounded(data);
}

function bounded(data) {
  const kept = {};
  for (const [mime, value] of Object.entries(data ?? {})) {
    if (mime === 'text/plain') kept[mime] = clip(String(value));
    else if (value instanceof Uint8Array) kept[mime] = Buffer.from(value).toString('base64');
    else if (typeof value !== 'string' || value.length <= MAX_MIME_CHARS) kept[mime] = value;
  }
  return kept;
}

function clip(text) {
  return text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS)}\n… it is longer`;
}

function show(type, data) {
  answer({ display: { type, data } });
}

/** Waits for the agent: code that shows much is held up. */
function answer(message) {
  let bytes = Buffer.from(`${JSON.stringify(message, plainly)}\0`);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(CONTROL_FD, bytes));
    } catch (error) {
      if (error.code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/** JSON has no BigInt, and the agent takes no half of a surrogate pair. */
function plainly(_, value) {
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'string' ? value.toWellFormed() : value;
}

let received = Buffer.alloc(0);
let queue = Promise.resolve();
/** Variables whose code is still to come. */
let variables = null;
control.on('data', (piece) => {
  received = Buffer.concat([received, piece]);
  for (let end = received.indexOf(0); end >= 0; end = received.indexOf(0)) {
    const text = received.toString('utf8', 0, end);
    received = received.subarray(end + 1);
    if (variables === null) variables = JSON.parse(text);
    else {
      const given = variables;
      variables = null;
      queue = queue.then(() => run(given, text));
    }
  }
});
control.on('end', () => process.exit(0));
answer('ready');
