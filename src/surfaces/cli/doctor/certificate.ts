/** Checks the certificate of the listeners, when this process knows its files. */

import type { DoctorFacts } from '../../../control/ports/doctor-facts.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { Check, Finding } from './check.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export function certificateChecks({ readCertificate }: DoctorFacts): Check[] {
  return [{ name: 'certificate', run: () => certificate(readCertificate, Date.now()) }];
}

/** @param read Reads and judges the files; null without any. */
export async function certificate(read: DoctorFacts['readCertificate'], now: number): Promise<Finding> {
  if (!read) return { status: 'ok', found: 'none (SANDHAVEN_TLS_CERT is not set): plain HTTP' };
  try {
    const { names, validFrom, validTo } = await read();
    const found = `for ${names.join(', ') || 'no name'}, valid until ${new Date(validTo).toISOString().slice(0, 10)}`;
    if (now < validFrom || now >= validTo) {
      return { status: 'fail', found, advice: 'It is not valid now: clients refuse it. Renew it.' };
    }
    if (validTo - now >= limits.tls.expiresSoonDays * DAY_MS) return { status: 'ok', found };
    return { status: 'warn', found, advice: 'Renew it; the service finds the new files by itself.' };
  } catch (error) {
    if (!(error instanceof SandhavenError)) throw error;
    return { status: 'fail', found: error.message, advice: error.fields.hint ?? 'Check SANDHAVEN_TLS_CERT.' };
  }
}
