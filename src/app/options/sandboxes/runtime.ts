/** Engine that makes the machines. */
import { invalidArgument } from '../../../model/errors.ts';
import { flag } from '../flag.ts';

export const runtime = flag({
  name: 'runtime',
  default: 'oci',
  help: 'the engine: oci on this host, or kubernetes',
  parse(text, { flag }): 'oci' | 'kubernetes' {
    if (text === 'oci' || text === 'kubernetes') return text;
    throw invalidArgument(
      flag,
      `The engine '${text}' is not known.`,
      'Use --runtime oci or --runtime kubernetes.',
    );
  },
});
