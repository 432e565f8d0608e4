/**
 * Describes streams of a sandbox, as far as OpenAPI can: the WebSocket of a terminal, whose messages are in docs/terminals.md,
 * the output of a process, whose events are in docs/processes.md, and changes of files, with docs/watching-files.md.
 */
import { limits } from '../../../model/limits.ts';
import { failures, type Json, linuxUser, sandboxInPath } from './service.ts';

const { columns, rows, idChars, windowBytes } = limits.terminal;

const terminalParameters: Json[] = [
  sandboxInPath,
  {
    name: 'terminal',
    in: 'query',
    description: 'Id of the terminal.',
    schema: { type: 'string', pattern: `^[A-Za-z0-9_-]{1,${idChars}}$`, default: 'main' },
  },
  {
    name: 'create',
    in: 'query',
    description: 'Make the terminal where there is none of the id.',
    schema: { type: 'boolean', default: true },
  },
  {
    name: 'cols',
    in: 'query',
    description: 'Columns of the viewer, with rows; without both it shows whatever size there is.',
    schema: { type: 'integer', minimum: columns.min, maximum: columns.max },
  },
  {
    name: 'rows',
    in: 'query',
    description: 'Rows of the viewer.',
    schema: { type: 'integer', minimum: rows.min, maximum: rows.max },
  },
  {
    name: 'window',
    in: 'query',
    description:
      'Bytes that the service sends before the client reports with `shown` that it has shown some.',
    schema: { type: 'integer', minimum: windowBytes.min, maximum: windowBytes.max },
  },
  {
    name: 'team',
    in: 'query',
    description: 'Team to act for, in place of the header: browsers let no script set it here.',
    schema: { type: 'string' },
  },
  {
    name: 'cwd',
    in: 'query',
    description: "Folder of a new terminal, absolute, or relative to /workspace or the user's home.",
    schema: { type: 'string' },
  },
  {
    name: 'user',
    in: 'query',
    description: 'Linux user of a new terminal, which starts in its home.',
    schema: linuxUser,
  },
];

export const terminalPaths: Json = {
  '/v1/sandboxes/{sandbox}/terminal': {
    get: {
      operationId: 'openTerminal',
      summary: 'Look at a terminal',
      description:
        'A WebSocket. Binary messages are bytes of the terminal, both ways. Text messages are JSON: the client sends ' +
        '`{"type":"resize","cols":80,"rows":24}`, and with a window `{"type":"shown","bytes":65536}`, and gets `ready` first, then `size`, `skipped`, `exit` and `error`. The ' +
        'terminal goes on when its viewers leave. Close codes: 1000 the shell has ended, 1001 the service stops, 1008 the ' +
        'key has ended, 1011 a defect, 4000 and the status of any other error.',
      tags: ['Terminals'],
      parameters: terminalParameters,
      responses: {
        '101': { description: 'Connected.' },
        '426': { $ref: '#/components/responses/Failure' },
        ...failures,
      },
    },
  },
};

const { min, max } = limits.detached.position;

const outputParameters: Json[] = [
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
      parameters: outputParameters,
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

const watchParameters: Json[] = [
  sandboxInPath,
  {
    name: 'path',
    in: 'query',
    description: "Folder, absolute, or relative to /workspace or the user's home.",
    schema: { type: 'string', default: '.' },
  },
  {
    name: 'recursive',
    in: 'query',
    description: 'Also folders below it, and those that come later.',
    schema: { type: 'boolean', default: false },
  },
  { name: 'user', in: 'query', description: 'Linux user, from its home.', schema: linuxUser },
];

export const watchPaths: Json = {
  '/v1/sandboxes/{sandbox}/files/watch': {
    get: {
      operationId: 'watchFiles',
      summary: 'Watch changes of files',
      description:
        'Server-sent events: `begin` once the folder is watched; `changes` has `changes`, each with `type` (`created`, ' +
        '`written`, `removed`, `renamed`, `attributes`), `path`, `folder` (true for a folder) and, of a rename, `from`. One of ' +
        'type `overflow` alone says that changes were missed: list what you follow. `result` ends the stream when the folder is ' +
        'gone; `error` is a problem.',
      tags: ['Files'],
      parameters: watchParameters,
      responses: {
        '200': {
          description: 'The changes.',
          content: { 'text/event-stream': { schema: { type: 'string' } } },
        },
        ...failures,
      },
    },
  },
};
