/** Terminals of a sandbox, as the service lists them. */
import { queryOptions } from '@tanstack/react-query';
import { administration } from '../../service/administration.ts';

export const terminalsQuery = (sandbox: string) =>
  queryOptions({
    queryKey: ['inside', sandbox, 'terminals'],
    queryFn: async () => (await administration.listTerminals(sandbox)).terminals,
  });
