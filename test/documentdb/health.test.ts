/** Health of a service with a document database: what the doctor finds about its credentials. */
import { describe, expect, it } from 'vitest';
import { mustAct } from '../support/people.ts';
import { adminConnectionString, readerConnectionString } from './server.ts';
import { useService } from './service.ts';

interface Finding {
  name: string;
  status: string;
  found: string;
}

describe.each([
  ['could write', adminConnectionString, 'warn', 'connected; the credentials could write'],
  ['can only read', readerConnectionString, 'ok', 'connected; the credentials can only read'],
])('credentials that %s', (_what, connectionString, status, found) => {
  const documents = useService(() => ({ DOCUMENTDB_CONNECTION_STRING: connectionString }));

  it('are found so by a service that runs', async () => {
    const { doctor } = (await mustAct(documents.service, 'GetHealth')) as unknown as {
      doctor: { findings: Finding[] };
    };
    expect(doctor.findings).toContainEqual(expect.objectContaining({ name: 'documents', status, found }));
  });
});
