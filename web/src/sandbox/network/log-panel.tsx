/** Log of the sandbox: connections and refusals, newest first. One click adds the missing rule. */
import { Button, Checkbox } from '@mantine/core';
import type { NetworkLogEvent } from '@sandhaven/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { counted, formatBytes } from '../../format/quantity.ts';
import { Away } from '../../parts/away.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { notifyDone } from '../../parts/notify.tsx';
import { Panel } from '../../parts/page.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { State } from '../../parts/state.tsx';
import { networks } from '../../service/networks.ts';
import type { NetworkSetting } from '../../service/records.ts';
import { useActing } from '../../shell/team-items.tsx';
import { useSandbox } from '../sandbox.ts';
import { missingRule } from './log-events.ts';
import { useLiveLog } from './use-live-log.ts';

export function LogPanel({ network }: { network: NetworkSetting }) {
  const { id } = useSandbox();
  const [refused, setRefused] = useState(false);
  const { data, error } = useLiveLog(id, refused);
  const choice = (
    <Checkbox
      label="Only what was refused"
      checked={refused}
      onChange={({ currentTarget }) => setRefused(currentTarget.checked)}
    />
  );
  return (
    <Panel title="Log" actions={choice}>
      {!data && !error && <Loading what="the log" />}
      {error && <ProblemPanel title="The log cannot be shown" error={error} />}
      {data?.events.length === 0 && (
        <div className="dimmed">
          {network.mode === 'rules'
            ? 'Nothing yet. Connections appear here as they are made.'
            : 'Nothing. Connections are logged while the sandbox has rules.'}
        </div>
      )}
      {data && data.events.length > 0 && <Events events={data.events} network={network} />}
      {data && data.dropped > 0 && (
        <div className="dimmed small">{counted(data.dropped, 'event')} came too fast to be kept.</div>
      )}
    </Panel>
  );
}

function Events({ events, network }: { events: NetworkLogEvent[]; network: NetworkSetting }) {
  const { id } = useSandbox();
  const { viewer } = useActing();
  const mayAllow = network.mode === 'rules' && !viewer;
  const queries = useQueryClient();
  const allow = useMutation({
    mutationFn: (rule: string) => networks.allow(id, rule),
    onSuccess: (shown, rule) => {
      queries.setQueryData(['sandbox', id, 'network'], shown);
      notifyDone(`${rule} is allowed`);
    },
  });
  return (
    <>
      {allow.error && <ProblemPanel title="Not allowed" error={allow.error} />}
      <DataTable
        label="Connections"
        head={['When', 'Decision', 'Kind', 'Host', 'Sent', 'Received', 'Because']}
      >
        {events.toReversed().map((event) => {
          const missing = mayAllow ? missingRule(event) : null;
          const rule = missing !== null && network.allow.includes(missing) ? null : missing;
          return (
            <tr key={event.sequence}>
              <td style={{ whiteSpace: 'nowrap' }}>
                <Away time={event.time} />
              </td>
              <td>
                <Decision event={event} />
              </td>
              <td>{event.kind}</td>
              <td>
                <Host event={event} />
              </td>
              <td className="numbers">{event.ended ? formatBytes(event.sent) : '–'}</td>
              <td className="numbers">{event.ended ? formatBytes(event.received) : '–'}</td>
              <td>
                <span className="row">
                  {reasonOf(event)}
                  {rule !== null && (
                    <Button
                      size="compact-xs"
                      variant="default"
                      loading={allow.isPending && allow.variables === rule}
                      onClick={() => allow.mutate(rule)}
                      aria-label={`Allow ${rule}`}
                      title={rule}
                    >
                      Allow
                    </Button>
                  )}
                </span>
              </td>
            </tr>
          );
        })}
      </DataTable>
    </>
  );
}

function Decision({ event: { allowed, ended } }: { event: NetworkLogEvent }) {
  if (!allowed) return <State state="refused" fallback="error" />;
  return ended ? <State state="ended" fallback="stopped" /> : <State state="allowed" fallback="started" />;
}

function Host({ event: { name, address, port } }: { event: NetworkLogEvent }) {
  const place = address === null ? null : `${address}${port === null ? '' : `:${port}`}`;
  return (
    <>
      {name && <div className="break">{name}</div>}
      {place && <code className={name ? 'dimmed' : ''}>{place}</code>}
    </>
  );
}

function reasonOf({ allowed, ended, rule, why }: NetworkLogEvent): string {
  return (allowed && !ended ? rule : (why ?? rule)) ?? '–';
}
