/** Checks the document database, when this process has its connection string. */

import type { DoctorFacts } from '../../../control/ports/doctor-facts.ts';
import { SandhavenError } from '../../../model/errors.ts';
import type { Check, Finding } from './check.ts';

export function documentChecks({ couldWriteDocuments }: DoctorFacts): Check[] {
  return [{ name: 'documents', run: () => documents(couldWriteDocuments) }];
}

/** @param couldWrite Asks the server about write privileges; null without a server. */
export async function documents(couldWrite: DoctorFacts['couldWriteDocuments']): Promise<Finding> {
  if (!couldWrite) {
    return { status: 'ok', found: 'no document database (DOCUMENTDB_CONNECTION_STRING is not set)' };
  }
  try {
    return judge(await couldWrite());
  } catch (error) {
    if (!(error instanceof SandhavenError)) throw error;
    const advice = error.fields.hint ?? 'Check DOCUMENTDB_CONNECTION_STRING.';
    return { status: 'fail', found: error.message, advice };
  }
}

function judge(couldWrite: boolean | null): Finding {
  if (couldWrite === false) return { status: 'ok', found: 'connected; the credentials can only read' };
  const found =
    couldWrite === null
      ? 'connected; the server does not say what the credentials may do'
      : 'connected; the credentials could write';
  return {
    status: 'warn',
    found,
    advice:
      'The DocumentDb tools write nothing whatever the credentials allow; a user with the role read is one more safeguard.',
  };
}
