/** `sandhaven start` and `sandhaven stop`: of one sandbox or several. */
import { startSandbox, stopSandbox } from '../../../../catalog/sandboxes/lifecycle.ts';
import type { Tool } from '../../../../catalog/tool.ts';
import { createClient } from '../../client.ts';
import type { Command } from '../../io.ts';
import { printResult } from '../../output.ts';
import { eachVerb } from '../../verbs/each-verb.ts';

export const start = lifecycleVerb('start', 'start sandboxes', startSandbox);
export const stop = lifecycleVerb('stop', 'stop sandboxes; their files stay', stopSandbox);

function lifecycleVerb(word: string, summary: string, tool: Tool): Command {
  return eachVerb({
    usage: `sandhaven ${word}`,
    summary,
    of: 'sandbox',
    listedBy: 'sandhaven ls',
    definition: tool,
    call: (connection) => {
      const client = createClient(connection);
      return (parameters, options) => client(tool, parameters, options);
    },
    print: (result, io) => printResult(tool, result, false, io),
  });
}
