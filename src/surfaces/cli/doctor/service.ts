/** Checks of what the service is set up with: its certificate, its place for archives, its document database. */
import type { DoctorFacts } from '../../../control/ports/doctor-facts.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
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

const DAY_MS = 24 * 60 * 60 * 1000;

/** Checks the certificate of the listeners, when this process knows its files. */
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

/** Checks what E2B's clients need beside a key: every name below a domain, by https. */
export async function clientNames({
  clientNames: names,
  readCertificate,
}: Pick<DoctorFacts, 'clientNames' | 'readCertificate'>): Promise<Finding> {
  if (!names) return { status: 'ok', found: "clients of E2B are not served (--compat has no 'e2b')" };
  const all = `*.${names.domain}`;
  const lacks = (found: string, first: string): Finding => ({
    ...{ status: 'warn', found },
    advice: `${first} Until then clients need E2B_API_URL and E2B_SANDBOX_URL; see docs/migrate-from-e2b.md.`,
  });
  if (!names.isTls)
    return lacks(
      `clients of E2B ask by https, and ${all} is served by HTTP`,
      `Give --tls-cert and --tls-key, or --preview-url https://${all} with a proxy before it.`,
    );
  for (const label of ['api', '49983-0123456789abcdef']) {
    const addresses = await names.lookUp(`${label}.${names.domain}`).catch(() => []);
    if (addresses.length === 0)
      return lacks(`no name server knows ${label}.${names.domain}`, `Let ${all} lead to this host.`);
  }
  const covered = await readCertificate?.().then(
    (certificate) => certificate.names.includes(`DNS:${all}`),
    // The check of the certificate says why.
    () => true,
  );
  if (covered === false) return lacks(`the certificate has no ${all}`, `Get one for ${all}.`);
  return { status: 'ok', found: `clients of E2B find ${all}` };
}

/** Checks the document database, when this process has its connection string. */
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
