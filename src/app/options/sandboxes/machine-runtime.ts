/** Program that makes machines of the launcher's mounts, on this host. */
import { invalidArgument } from '../../../model/errors.ts';
import { flag } from '../flag.ts';

export const machineRuntime = flag({
  name: 'machine-runtime',
  default: 'auto',
  help: 'what starts machines on this host: runc, direct (the launcher itself), or auto, the quickest that can',
  parse(text, { flag }): 'auto' | 'runc' | 'direct' {
    if (text === 'auto' || text === 'runc' || text === 'direct') return text;
    throw invalidArgument(
      flag,
      `The machine runtime '${text}' is not known.`,
      'Use --machine-runtime auto, runc or direct.',
    );
  },
});
