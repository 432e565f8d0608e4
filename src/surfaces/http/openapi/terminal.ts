/** Describes the WebSocket of a terminal, as far as OpenAPI can; docs/terminals.md has its messages. */
import { limits } from '../../../model/limits.ts';
import { failures, type Json, linuxUser, sandboxInPath } from './service.ts';

const { columns, rows, idChars, windowBytes } = limits.terminal;

const parameters: Json[] = [
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
      parameters,
      responses: {
        '101': { description: 'Connected.' },
        '426': { $ref: '#/components/responses/Failure' },
        ...failures,
      },
    },
  },
};
