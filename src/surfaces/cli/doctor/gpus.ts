/** Checks the GPUs that sandboxes can get. */

import type { DoctorFacts } from '../../../control/ports/doctor-facts.ts';
import type { Check, Finding } from './check.ts';

/** Further problems on a host with many GPUs add nothing. */
const PROBLEMS_SHOWN = 3;

export function gpuCheck(facts: Pick<DoctorFacts, 'examineGpus'>): Check {
  return { name: 'gpus', run: async () => gpus(await facts.examineGpus()) };
}

export function gpus({
  kind,
  names,
  held,
  problems,
  leftOut,
}: Awaited<ReturnType<DoctorFacts['examineGpus']>>): Finding {
  const there = names.length === 0 ? `none of ${kind}` : `${names.length} of ${kind}: ${names.join(', ')}`;
  const inUse = held === 0 ? '' : `; ${held} in use`;
  const without = leftOut.length === 0 ? '' : `; left out of their specification: ${leftOut.join(', ')}`;
  const found = `${there}${inUse}${without}`;
  if (problems.length === 0) return { status: 'ok', found };
  const shown = problems.slice(0, PROBLEMS_SHOWN).join('; ');
  const more = problems.length > PROBLEMS_SHOWN ? `; and ${problems.length - PROBLEMS_SHOWN} more` : '';
  return {
    status: 'warn',
    found: `${found} (${shown}${more})`,
    advice:
      'Write the specification anew, as root (nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml); docs/gpus.md.',
  };
}
