/** ListTerminals: terminals of one of the caller's sandboxes. */
import { z } from 'zod';
import { sandbox } from '../../catalog/parameters/sandbox.ts';
import { defineAction } from '../action.ts';

export const listTerminals = defineAction({
  name: 'ListTerminals',
  title: 'List the terminals of a sandbox',
  description:
    'Terminals of one of your sandboxes, oldest first, each with its size, its viewers and the program in the ' +
    'foreground. Open one with a WebSocket, or with `sandhaven attach`.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'terminals list',
  argument: 'sandbox',
  input: z.strictObject({ sandbox }),
  output: z.looseObject({
    terminals: z.array(
      z.looseObject({
        terminal: z.string(),
        created_at: z.string(),
        cols: z.int(),
        rows: z.int(),
        viewers: z.int(),
        program: z.string().describe('Name of the program in the foreground; empty when unknown.'),
        busy: z.boolean().describe('A program other than the shell is in the foreground.'),
      }),
    ),
  }),
  async handler({ sandbox: reference }, { services, caller }) {
    const terminals = await services.terminals.list(caller, reference);
    return {
      terminals: terminals.map(({ terminalId, createdAtMs, size, viewers, program, busy }) => ({
        terminal: terminalId,
        created_at: new Date(createdAtMs).toISOString(),
        cols: size.columns,
        rows: size.rows,
        ...{ viewers, program, busy },
      })),
    };
  },
  rows: ({ terminals }) =>
    terminals.map(({ terminal, cols, rows, viewers, program, created_at }) => ({
      ...{ terminal, size: `${cols}x${rows}`, viewers, program, created: created_at },
    })),
});
