/** EndTerminal: hangs up on what runs in a terminal of one of the caller's sandboxes. */
import { z } from 'zod';
import { sandbox } from '../../catalog/parameters/sandbox.ts';
import { terminalId } from '../../catalog/parameters/terminal.ts';
import { defineAction } from '../action.ts';

export const endTerminal = defineAction({
  name: 'EndTerminal',
  title: 'End a terminal of a sandbox',
  description:
    'Hangs up on what runs in a terminal of one of your sandboxes, kills what stays after two seconds, and ends the ' +
    'connections of its viewers. Answers when the terminal is gone.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'terminals end',
  argument: 'sandbox',
  input: z.strictObject({ sandbox, terminal: terminalId().describe('Id of the terminal.') }),
  output: z.looseObject({ terminal: z.string(), ended: z.literal(true) }),
  async handler({ sandbox: reference, terminal }, { services, caller, signal }) {
    await services.terminals.end(caller, reference, terminal, signal);
    return { terminal, ended: true as const };
  },
});
