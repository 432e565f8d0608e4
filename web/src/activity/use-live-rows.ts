/** Adds rows of the audit log to the screen as they are written, by a stream that is open while the screen is. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ownClient } from '../service/client.ts';
import type { AuditPage } from '../service/records.ts';
import { type SandboxList, sandboxesKey } from '../service/sandbox-list.ts';
import { shareStream } from '../service/shared-stream.ts';
import { type ActivityFilter, auditParametersOf } from './filter.ts';
import { withRows } from './live-rows.ts';

export function useLiveRows(filter: ActivityFilter, most: number): void {
  const queries = useQueryClient();
  // The same filter is another object after each step of the router.
  const key = JSON.stringify(filter);
  useEffect(() => {
    const own = JSON.parse(key) as ActivityFilter;
    const queryKey = ['audit', auditParametersOf(own, most)];
    return shareStream(
      // The log is the user's, whatever the team of the tab.
      { client: ownClient, name: 'sandhaven-activity', wanted: { audit: true } },
      (change) => {
        if (change.type === 'audit') {
          const rows = queries.getQueryData<SandboxList>(sandboxesKey)?.rows ?? [];
          const sandboxIds = new Map(rows.map(({ name, id }) => [name, id]));
          queries.setQueryData<AuditPage>(
            queryKey,
            (page) => page && withRows(page, change.rows, own, { sandboxIds, most }),
          );
        }
        if (change.type === 'audit_missed' || change.type === 'refresh')
          void queries.invalidateQueries({ queryKey: ['audit'] });
      },
      () => {},
    );
  }, [queries, key, most]);
}
