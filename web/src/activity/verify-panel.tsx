/** Checks that the log is as the service wrote it. */
import { Alert, CloseButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { counted } from '../format/quantity.ts';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loading.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { administration } from '../service/administration.ts';

export function VerifyPanel({ close }: { close(): void }) {
  const { data, error } = useQuery({
    queryKey: ['audit', 'verify'],
    queryFn: administration.verifyAudit,
    staleTime: 0,
    refetchOnWindowFocus: false,
  });
  if (error) return <ProblemPanel title="The log was not verified" error={error} />;
  if (!data) return <Loading what="the outcome of the verification" lines={2} />;
  return (
    <Alert
      color={data.intact ? 'accent' : 'red'}
      icon={<Icon name={data.intact ? 'check' : 'warning'} />}
      title={data.intact ? 'The log is intact' : `The log was changed: ${counted(data.fault_count, 'fault')}`}
      role="status"
    >
      <div className="row" style={{ alignItems: 'flex-start' }}>
        <div className="grow break">
          {counted(data.rows_checked, 'row')} checked, {counted(data.events_lost, 'event')} known to be lost.
          End of the chain: <code>{data.end_hash}</code>
          {data.faults.map(({ sequence, through, kind, meaning }) => (
            <div key={`${kind} ${sequence}`}>
              Rows {sequence} to {through}: {meaning}
            </div>
          ))}
        </div>
        <CloseButton aria-label="Hide the outcome" onClick={close} />
      </div>
    </Alert>
  );
}
