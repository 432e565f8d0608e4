/** Actions on contexts of a sandbox: interpreters that keep variables. Sandbox.RunInContext runs code in one. */
import { z } from 'zod';
import { contextId, contextOutput, contextParameters, toContextView } from '../catalog/base/context-view.ts';
import { sandbox } from '../catalog/parameters/sandbox.ts';
import { defineAction } from './action.ts';

const common = { role: 'member', argument: 'sandbox' } as const;
const changes = { ...common, scope: 'sandboxes:write', words: 'context' } as const;
const named = { sandbox, context: contextId.describe('Id of the context.') };

export const createContext = defineAction({
  ...common,
  name: 'CreateContext',
  title: 'Create a context',
  description:
    'Starts an interpreter in a started sandbox whose variables stay between calls, and a restart of the service. Answers when it ' +
    'waits for code.',
  scope: 'sandboxes:write',
  command: 'contexts create',
  input: z.strictObject({ sandbox, ...contextParameters }),
  output: contextOutput,
  async handler(
    { sandbox: reference, context, memory_mb: memoryMb, ...given },
    { services, caller, signal },
  ) {
    const request = { ...given, contextId: context, memoryMb };
    return toContextView(await services.contexts.create(caller, reference, request, signal));
  },
});

export const listContexts = defineAction({
  ...common,
  name: 'ListContexts',
  title: 'List the contexts of a sandbox',
  description:
    'Contexts of one of your sandboxes, oldest first, also those that have ended by themselves, and why.',
  scope: 'sandboxes:read',
  command: 'contexts list',
  input: z.strictObject({ sandbox }),
  output: z.looseObject({ contexts: z.array(contextOutput) }),
  async handler({ sandbox: reference }, { services, caller }) {
    return { contexts: (await services.contexts.list(caller, reference)).map(toContextView) };
  },
  rows: ({ contexts }) =>
    contexts.map(({ context, language, runs, busy, created_at, ended }) => ({
      ...{ context, language, status: ended ?? (busy ? 'busy' : 'idle'), runs, created: created_at },
    })),
});

export const interruptContext = defineAction({
  ...changes,
  name: 'InterruptContext',
  title: 'Interrupt the code of a context',
  description:
    'Interrupts the code that runs in a context, and the programs that it waits for, as Ctrl-C does. Its variables stay.',
  command: 'contexts interrupt',
  input: z.strictObject(named),
  output: z.looseObject({ context: z.string(), interrupted: z.boolean().describe('false: no code ran.') }),
  async handler({ sandbox: reference, context }, { services, caller }) {
    return { context, interrupted: await services.contexts.interrupt(caller, reference, context) };
  },
});

export const restartContext = defineAction({
  ...changes,
  name: 'RestartContext',
  title: 'Restart a context',
  description:
    'Kills a context with all that it has started, and starts it anew, as it was made, without its variables. One that has ended ' +
    'by itself is started again.',
  command: 'contexts restart',
  input: z.strictObject(named),
  output: contextOutput,
  async handler({ sandbox: reference, context }, { services, caller, signal }) {
    return toContextView(await services.contexts.restart(caller, reference, context, signal));
  },
});

export const deleteContext = defineAction({
  ...changes,
  name: 'DeleteContext',
  title: 'Delete a context',
  description: 'Kills a context with all that it has started, and forgets it. Answers when all has ended.',
  command: 'contexts rm',
  input: z.strictObject(named),
  output: z.looseObject({ context: z.string(), deleted: z.literal(true) }),
  async handler({ sandbox: reference, context }, { services, caller, signal }) {
    await services.contexts.delete(caller, reference, context, signal);
    return { context, deleted: true as const };
  },
});
