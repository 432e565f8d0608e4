/** Engine that makes the machines. */
import { invalidArgument } from '../../../model/errors.ts';
import { flag } from '../flag.ts';

export const runtime = flag({
  name: 'runtime',
  default: 'oci',
  help: 'the engine: oci',
  parse(text, { flag }): 'oci' {
    if (text === 'oci') return text;
    throw invalidArgument(flag, `The engine '${text}' is not known.`, 'Use --runtime oci.');
  },
});
