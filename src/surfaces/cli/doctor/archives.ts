/** Checks the store of archives, when this process has its settings. */
import type { DoctorFacts } from '../../../control/ports/doctor-facts.ts';
import { SandhavenError } from '../../../model/errors.ts';
import type { Check, Finding } from './check.ts';

export function archiveChecks({ proveArchiveStore }: DoctorFacts): Check[] {
  return [{ name: 'archives', run: () => archives(proveArchiveStore) }];
}

/** @param prove Writes, reads and removes a small object; null without a store. */
export async function archives(prove: DoctorFacts['proveArchiveStore']): Promise<Finding> {
  if (!prove) return { status: 'ok', found: 'on this host (SANDHAVEN_ARCHIVE_STORE is not set)' };
  try {
    return { status: 'ok', found: `in ${await prove()}` };
  } catch (error) {
    if (!(error instanceof SandhavenError)) throw error;
    const advice = error.fields.hint ?? 'Check SANDHAVEN_ARCHIVE_STORE.';
    return { status: 'fail', found: error.message, advice };
  }
}
