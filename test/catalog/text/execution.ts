/** Results of RunCode and RunCommand. */
import type { Sample, Samples } from './sample.ts';

const ended = { exit_code: 0, timed_out: false, truncated: false, duration_ms: 12.4 };

const samples: Sample[] = [
  {
    result: { output: 'a\n', stdout: 'a\n', stderr: '', ...ended },
    says: { output: /^a\n\[exit code 0, 12 ms, all of it on stdout\]$/ },
  },
  {
    result: { output: 'a', stdout: 'a', stderr: '', ...ended },
    says: { output: /^a\n\[no newline at the end\]\n\[exit code 0, / },
  },
  {
    result: { output: '', stdout: '', stderr: '', ...ended },
    says: { output: /^\(no output\)\n\[exit code 0, 12 ms\]$/ },
  },
  {
    result: { output: 'e\n', stdout: '', stderr: 'e\n', ...ended, exit_code: 3 },
    says: { stderr: /^e\n\[exit code 3, 12 ms, all of it on stderr\]$/ },
  },
  {
    result: { output: 'a\ne\n', stdout: 'a\n', stderr: 'e\n', ...ended },
    says: { stdout: /^stdout:\na\nstderr:\ne\n\[exit code 0, 12 ms\]$/ },
  },
  {
    result: {
      output: 'a\ne\nb',
      stdout: 'a\nb',
      stderr: 'e\n',
      exit_code: 124,
      timed_out: true,
      truncated: true,
      duration_ms: 30_004,
    },
    says: {
      output: /^as it came:\na\ne\nb\n\[no newline at the end\]\n/,
      stdout: '\nstdout:\na\nb\n[no newline at the end]\n',
      stderr: '\nstderr:\ne\n[',
      exit_code: '[exit code 124, ',
      timed_out: 'timed out',
      truncated: 'truncated: the middle of a stream is left out',
      duration_ms: '30004 ms',
    },
  },
];

const chart = {
  type: 'line',
  title: 'Sales "2026"',
  x_label: 'month',
  y_label: 'EUR',
  x_scale: 'linear',
  y_scale: 'linear',
  elements: [{}],
  png: 'iVBORw0KGgo=',
};
const bare = { ...chart, type: 'pie', title: null, x_label: null, y_label: null, elements: [{}, {}] };

export const executionSamples: Samples = {
  'Sandbox.RunCommand': samples,
  'Sandbox.RunCode': [
    ...samples.map(({ result, says }) => ({ result: { ...result, charts: [] }, says })),
    {
      result: { output: 'a\n', stdout: 'a\n', stderr: '', ...ended, charts: [chart, bare] },
      says: {
        charts:
          /^a\n\[chart 1: line "Sales \\"2026\\"", x "month", y "EUR", 1 element\]\n\[chart 2: pie, 2 elements\]\n\[exit/,
      },
    },
  ],
};
