/** `sandhaven inspect`: all about one sandbox or several. */
import { getSandbox } from '../../../../catalog/sandboxes/get-sandbox.ts';
import { createClient } from '../../client.ts';
import { render } from '../../render.ts';
import { eachVerb } from '../../verbs/each-verb.ts';

export const inspect = eachVerb({
  usage: 'sandhaven inspect',
  summary: 'show all about sandboxes',
  of: 'sandbox',
  listedBy: 'sandhaven ls',
  definition: getSandbox,
  call: (connection) => {
    const client = createClient(connection);
    return (parameters, options) => client(getSandbox, parameters, options);
  },
  print: (result, { stdout }) => void stdout.write(`${render(result)}\n`),
});
