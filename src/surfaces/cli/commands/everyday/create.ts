/** `sandhaven create`: makes a sandbox that stays. */
import { createSandbox } from '../../../../catalog/sandboxes/create-sandbox.ts';
import type { Command } from '../../io.ts';
import { printable } from '../../render.ts';
import { toolVerb } from '../../verbs/tool-verb.ts';

const verb = toolVerb({
  usage: 'sandhaven create',
  summary: 'create a sandbox',
  tool: createSandbox,
  // The ID is last, since a name may hold spaces.
  print: ({ name, id }) => `${printable(`${name}  ${id}`)}\n`,
});

export const create: Command = { ...verb, run: (argv, io) => verb.run(argv.map(oneOfSecrets), io) };

/** Takes `--secret NAME`, once for each, as `--secrets NAME`. */
function oneOfSecrets(word: string): string {
  return word.replace(/^--secret(?==|$)/, '--secrets');
}
