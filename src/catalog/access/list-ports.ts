/** Sandbox.ListPorts */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool } from '../base/tool.ts';
import { optionalSandbox } from '../parameters/sandbox.ts';

export const listPorts = defineTool({
  name: 'Sandbox.ListPorts',
  title: 'List ports',
  description:
    'Lists the TCP ports that programs in a started sandbox listen on, with name, pid and command of the process. ' +
    'GetPortPreviewUrl shows a server.',
  input: z.strictObject({ sandbox: optionalSandbox }),
  output: z.looseObject({
    ports: z.array(
      z.looseObject({
        port: z.int(),
        state: z.literal('listening'),
        name: z.string(),
        pid: z.int().nullable(),
        command: z.string().nullable().describe(`At most ${limits.listeningPort.commandChars} characters.`),
      }),
    ),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler({ sandbox }, { services, caller, signal }) {
    const ports = await services.previews.ports(caller, sandbox, signal);
    return {
      ports: ports.map(({ port, ...process }) => ({ port, state: 'listening' as const, ...process })),
    };
  },
});
