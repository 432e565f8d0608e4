/** Sandbox.RunInContext */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { contextParameters } from '../base/context-view.ts';
import { asPrinted, execOutput, printedText } from '../base/printed.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { optionalSandbox } from '../parameters/sandbox.ts';
import { atMostBytes, environment, integerWithDefault, textWithoutNul } from '../parameters/scalars.ts';

const output = execOutput.omit({ exit_code: true }).extend({
  context: z.string(),
  run: z.int().describe('Counts the runs of the context.'),
  results: z.array(
    z.looseObject({
      type: z.enum(['result', 'display']),
      data: z.looseObject({}).describe('The same in several forms, by media type; pictures in base64.'),
    }),
  ),
  results_left_out: z.int(),
  error: z
    .looseObject({ name: z.string(), value: z.string(), traceback: z.string() })
    .nullable()
    .describe('What the code raised.'),
  exit_code: z.int().nullable().describe("Of bash's last command."),
  ended: z.string().nullable().describe('Why the context itself has ended, with its variables.'),
});

type View = z.output<typeof output>;

export const runInContext = defineTool({
  name: 'Sandbox.RunInContext',
  title: 'Run code that remembers',
  description:
    'Runs code in a context, an interpreter whose variables stay for the next call, and which is made at its first use. The ' +
    "last expression's value is a result, as are charts and what display() gets; await and, in Python, !command work. An error " +
    'of the code is a result. restart forgets the variables first.',
  input: z.strictObject({
    code: textWithoutNul()
      .check(atMostBytes(limits.codeBytes))
      .meta({ description: 'Source code.', sensitive: true }),
    sandbox: optionalSandbox,
    ...contextParameters,
    env: environment()
      .default({})
      .meta({ description: 'Variables of this run (default: none).', sensitive: true }),
    restart: z.boolean().default(false).describe('Start the context anew first (default: false).'),
    timeout_seconds: integerWithDefault('Seconds until it is interrupted', limits.context.timeoutSeconds),
  }),
  output,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  long: true,
  live: true,
  displays: true,
  async handler(parameters, { services, caller, signal, live }) {
    const { sandbox, context: contextId, memory_mb: memoryMb, timeout_seconds, ...given } = parameters;
    const request = { ...given, contextId, memoryMb, timeoutMs: timeout_seconds * 1_000 };
    const result = await services.contexts.run(
      caller,
      sandbox,
      { ...request, ...withoutUndefined({ live }) },
      signal,
    );
    const { stdout, stderr, timedOut, truncated, durationMs, displays, leftOut } = result;
    return {
      ...{ output: result.output, stdout, stderr, context: result.contextId, run: result.run },
      results: displays.map((shown) => ({ ...withoutUndefined(shown) })),
      ...{
        results_left_out: leftOut,
        error: result.error && { ...result.error },
        exit_code: result.exitCode,
      },
      ...{ ended: result.end, timed_out: timedOut, truncated, duration_ms: durationMs },
    };
  },
  printed: (view) => asPrinted([view.output, ...plainResults(view)].join(''), stand(view).join(', ') || null),
  text: (view) => {
    const more = [...plainResults(view), ...(view.error ? [view.error.traceback] : [])];
    return printedText(view, [...stand(view), `${Math.round(view.duration_ms)} ms`], more);
  },
  images: ({ results }) =>
    results.flatMap(({ data }) => {
      const png = data['image/png'];
      return typeof png === 'string' ? [{ data: png, mimeType: 'image/png' }] : [];
    }),
});

function plainResults({ results }: View): string[] {
  return results.map(({ data }) => {
    const text = data['text/markdown'] ?? data['text/plain'];
    return typeof text === 'string' ? text : `[${Object.keys(data).join(', ')}]`;
  });
}

/** Returns all but plain success. */
function stand({ exit_code, timed_out, truncated, ended, error, results_left_out }: View): string[] {
  return [
    ...(error ? [`${error.name}: ${error.value}`.slice(0, 200)] : []),
    ...(exit_code ? [`exit code ${exit_code}`] : []),
    ...(timed_out ? ['timed out'] : []),
    ...(truncated ? ['truncated: the middle of a stream is left out'] : []),
    ...(results_left_out > 0 ? [`${results_left_out} results are left out`] : []),
    ...(ended === null ? [] : [`the context has ended: ${ended}`]),
  ];
}
