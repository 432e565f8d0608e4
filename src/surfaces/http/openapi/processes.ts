/** Describes the stream of a process's output; docs/processes.md has its events. */
import { limits } from '../../../model/limits.ts';
import { failures, type Json, sandboxInPath } from './service.ts';

const { min, max } = limits.detached.position;

const parameters: Json[] = [
  sandboxInPath,
  { name: 'process', in: 'path', required: true, description: 'Pid or tag.', schema: { type: 'string' } },
  {
    name: 'from',
    in: 'query',
    description:
      'Position of the first byte, counted from the start over both streams; the oldest that is kept without it.',
    schema: { type: 'integer', minimum: min, maximum: max },
  },
];

export const processPaths: Json = {
  '/v1/sandboxes/{sandbox}/processes/{process}/output': {
    get: {
      operationId: 'followProcess',
      summary: 'Follow the output of a process',
      description:
        'Server-sent events: `begin` names the position of the first byte as `from`, later than asked for where output is ' +
        'forgotten; `output` has `stream` (stdout or stderr) and `base64`; `result` has `exit_code`, `signal` and ' +
        '`timed_out`, once the process has ended and all is sent; `error` is a problem. The process waits for its slowest ' +
        'viewer, and goes on when a viewer leaves.',
      tags: ['Processes'],
      parameters,
      responses: {
        '200': {
          description: 'The output.',
          content: { 'text/event-stream': { schema: { type: 'string' } } },
        },
        ...failures,
      },
    },
  },
};
