/** The newest events of the sandbox's network, and those that come while the screen is open. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { actingTeam } from '../../service/acting-team.ts';
import { client } from '../../service/client.ts';
import { networks } from '../../service/networks.ts';
import type { NetworkLog } from '../../service/records.ts';
import { shareStream } from '../../service/shared-stream.ts';
import { withPiece, withShown } from './log-events.ts';

const MOST = 500;

export function useLiveLog(id: string, refused: boolean) {
  const queries = useQueryClient();
  const query = useQuery({
    queryKey: ['network-log', id, refused],
    async queryFn({ queryKey }) {
      const log = await networks.log(id, refused, MOST);
      return withShown(log, queries.getQueryData<NetworkLog>(queryKey), { refused, most: MOST });
    },
  });
  // A service without policies has no log to follow.
  const isThere = query.isSuccess;
  useEffect(() => {
    if (!isThere) return;
    const queryKey = ['network-log', id, refused];
    return shareStream(
      { client, name: `sandhaven-network ${actingTeam() ?? ''} ${id}`, wanted: { network: id } },
      (change) => {
        if (change.type === 'network') {
          queries.setQueryData<NetworkLog>(
            queryKey,
            (log) => log && withPiece(log, change, { refused, most: MOST }),
          );
        }
        if (change.type === 'refresh') void queries.invalidateQueries({ queryKey: ['network-log', id] });
      },
      () => {},
    );
  }, [queries, id, refused, isThere]);
  return query;
}
