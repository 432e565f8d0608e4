/** `sandhaven create`: makes a sandbox that stays. */
import { createSandbox } from '../../../../catalog/sandboxes/create-sandbox.ts';
import { printable } from '../../render.ts';
import { toolVerb } from '../../verbs/tool-verb.ts';

export const create = toolVerb({
  usage: 'sandhaven create',
  summary: 'create a sandbox',
  tool: createSandbox,
  // The ID is last, since a name may hold spaces.
  print: ({ name, id }) => `${printable(`${name}  ${id}`)}\n`,
});
