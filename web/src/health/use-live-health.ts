/** Brings the health up to date every few seconds, by a stream that is open while the screen is. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ownClient } from '../service/client.ts';
import { healthQuery } from '../service/queries.ts';
import type { Health } from '../service/records.ts';
import { shareStream } from '../service/shared-stream.ts';
import { withKnownDoctor } from './findings.ts';

export function useLiveHealth(): void {
  const queries = useQueryClient();
  useEffect(
    () =>
      shareStream(
        { client: ownClient, name: 'sandhaven-health', wanted: { health: true } },
        (change) => {
          if (change.type === 'health')
            queries.setQueryData<Health>(healthQuery.queryKey, (shown) =>
              withKnownDoctor(change.health, shown),
            );
        },
        () => {},
      ),
    [queries],
  );
}
