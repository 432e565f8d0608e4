/** VerifyAudit: verifies that the audit log is as the service wrote it. */
import { z } from 'zod';
import { defineAction } from '../action.ts';

export const verifyAudit = defineAction({
  name: 'VerifyAudit',
  title: 'Verify the audit log',
  description:
    'Walks the whole chain of hashes and names the first rows that were changed, added or removed. A log that was ' +
    'restored as a whole, database and checkpoint together, differs only from an end_hash that was kept elsewhere.',
  role: 'admin',
  command: 'audit verify',
  input: z.strictObject({}),
  output: z.looseObject({
    intact: z.boolean(),
    rows_checked: z.int(),
    begins_after: z.int().describe('Rows through this sequence were removed because of their age.'),
    end_sequence: z.int(),
    end_hash: z.string(),
    events_lost: z.int().describe('Events known to be lost, because of a full disk for example.'),
    fault_count: z.int(),
    faults: z.array(
      z.looseObject({
        kind: z.enum(['changed', 'missing', 'unanchored']),
        sequence: z.int(),
        through: z.int(),
        meaning: z.string(),
      }),
    ),
  }),
  async handler(_parameters, { services, signal }) {
    const report = await services.audit.verify(signal);
    return {
      ...{ intact: report.intact, rows_checked: report.rowsChecked, begins_after: report.beginsAfter },
      ...{ end_sequence: report.end.sequence, end_hash: report.end.hash.toString('hex') },
      ...{ events_lost: report.eventsLost, fault_count: report.faultCount },
      faults: report.faults.map((fault) => ({ ...fault, meaning: meanings[fault.kind] })),
    };
  },
});

const meanings = {
  changed: 'The row differs from the one that the service wrote.',
  missing: 'Rows were removed.',
  unanchored:
    'The checkpoint was missing when the service started: rows just before this one may have been cut off.',
};
