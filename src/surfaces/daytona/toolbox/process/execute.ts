/** One program, and all of its output: a command line, or code with its charts. */
import { invalidArgument } from '../../../../model/errors.ts';
import { limits } from '../../../../model/limits.ts';
import type { DaytonaCall, DaytonaRoute } from '../../base/call.ts';
import { answerOutput } from './output-answer.ts';

export const executeRoutes: readonly DaytonaRoute[] = [
  { method: 'POST', path: '/process/execute', handler: execute },
  { method: 'POST', path: '/process/code-run', handler: runCode },
];

const { runCommandTimeoutSeconds, runCodeTimeoutSeconds } = limits;

/** Command of clients before 0.156: a script within quotes, whose variables are for the inner shell alone to expand. */
const wrapped =
  /^sh -c "((?:export \w+=\$\(echo '[\w+/=]*' \| base64 -d\);)* ?echo '[\w+/=]*' \| base64 -d \| sh)"$/;

function execute(call: DaytonaCall): Promise<unknown> {
  const { sandbox } = call.params;
  const { command, cwd, envs, timeout } = call.body;
  const unwrapped = typeof command === 'string' ? (wrapped.exec(command)?.[1] ?? command) : command;
  const timeout_seconds = secondsOf(timeout, runCommandTimeoutSeconds);
  const parameters = { sandbox, command: unwrapped, cwd, env: envs, timeout_seconds };
  return answerOutput(call, (live) => call.tool('Sandbox.RunCommand', parameters, { live }));
}

/** Only the sandbox's own language runs with charts, and without arguments and environment. */
async function runCode(call: DaytonaCall): Promise<unknown> {
  const { sandbox } = call.params;
  const { code, language, argv, envs, timeout } = call.body;
  const { language: own } = await call.tool('Sandbox.GetSandbox', { sandbox });
  const asked = language ?? own;
  if (asked === own && isEmpty(argv) && isEmpty(envs)) {
    const parameters = { sandbox, code, timeout_seconds: secondsOf(timeout, runCodeTimeoutSeconds) };
    return answerOutput(
      call,
      (live) => call.tool('Sandbox.RunCode', parameters, { live }),
      ({ charts }) => ({ artifacts: { charts: chartsOf(charts) } }),
    );
  }
  const command = interpret(asked, code, argv ?? []);
  const timeout_seconds = secondsOf(timeout, runCommandTimeoutSeconds);
  const parameters = { sandbox, command, env: envs, timeout_seconds };
  const none = () => ({ artifacts: { charts: [] } });
  return answerOutput(call, (live) => call.tool('Sandbox.RunCommand', parameters, { live }), none);
}

/** Without a time, or with none of it, a program may run as long as any may. */
function secondsOf(timeout: unknown, { max }: { max: number }): number {
  if (timeout === undefined || timeout === null || timeout === 0) return max;
  if (typeof timeout === 'number' && timeout > 0) return Math.min(Math.ceil(timeout), max);
  throw invalidArgument('timeout', 'timeout must be a number of seconds, or 0 for no limit of your own.');
}

const interpreters = {
  python: ['python3', '-u', '-c'],
  javascript: ['node', '-e'],
  typescript: [
    ...['node', '--experimental-transform-types', '--disable-warning=ExperimentalWarning'],
    ...['--input-type=module-typescript', '-e'],
  ],
};

/** Returns a command line of the interpreter, which takes the place of its shell. */
function interpret(language: unknown, code: unknown, argv: unknown): string {
  const interpreter = Object.entries(interpreters).find(([name]) => name === language)?.[1];
  if (!interpreter) {
    const known = Object.keys(interpreters).join(', ');
    throw invalidArgument('language', `language must be one of ${known}.`);
  }
  if (typeof code !== 'string') throw invalidArgument('code', 'code must be a string.');
  if (!isTexts(argv)) throw invalidArgument('argv', 'argv must be a JSON array of strings.');
  // Node would take arguments that begin with a dash for its own.
  const separator = language === 'python' ? [] : ['--'];
  return `exec ${[...interpreter, code, ...separator, ...argv].map(quoted).join(' ')}`;
}

/** For a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || Object.keys(value).length === 0;
}

type Fields = Record<string, unknown>;

const types: Partial<Record<string, string>> = { box: 'box_and_whisker', composite: 'composite_chart' };

/** Returns the charts of a run as Daytona's clients read them. */
function chartsOf(charts: unknown): Fields[] {
  return (charts as Fields[]).map(chartOf);
}

function chartOf({ type, elements, ...chart }: Fields): Fields {
  const of = type === 'composite' ? chartOf : elementOf;
  return { ...chart, type: types[String(type)] ?? type, elements: (elements as Fields[]).map(of) };
}

/** Their models take texts for values, and numbers alone for points. */
function elementOf({ q1, q3, value, points, ...element }: Fields): Fields {
  return {
    ...element,
    ...(q1 === undefined ? {} : { first_quartile: q1, third_quartile: q3 }),
    ...(value === undefined ? {} : { value: String(value) }),
    ...(Array.isArray(points) ? { points: points.filter(isOfNumbers) } : {}),
  };
}

function isOfNumbers(point: unknown): boolean {
  return Array.isArray(point) && point.every((coordinate) => typeof coordinate === 'number');
}
