/**
 * Everybody's sandboxes, for admins, a hundred at a time: whose they are; stop and delete, and a way inside where the
 * operator allows it.
 */
import { Button } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { counted, formatCount } from '../format/quantity.ts';
import { Confirm, type Question } from '../parts/confirm.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Loading } from '../parts/loading.tsx';
import { notifyDone } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { State } from '../parts/state.tsx';
import { actFor } from '../service/acting-team.ts';
import { administration } from '../service/administration.ts';
import { everybodyQuery } from '../service/queries.ts';
import type { OwnedSandbox } from '../service/records.ts';
import { WhoseSwitch } from './whose-switch.tsx';

export function EverybodyPage() {
  const queries = useQueryClient();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(everybodyQuery);
  const rows = data?.pages.flatMap(({ sandboxes }) => sandboxes) ?? [];
  const { total_count: total = 0, may_read_inside: mayLook = false } = data?.pages.at(-1) ?? {};
  const [question, setQuestion] = useState<Question | null>(null);
  const ask = (sandbox: OwnedSandbox, verb: 'Stop' | 'Delete') =>
    setQuestion({
      title: `${verb} ${sandbox.name} of ${sandbox.owner.name}?`,
      body:
        verb === 'Stop'
          ? 'Its programs end. Its disk stays, unless a stop deletes this sandbox.'
          : 'Its disk is deleted for good.',
      action: verb,
      danger: true,
      async run() {
        await (verb === 'Stop' ? administration.stopAnySandbox : administration.deleteAnySandbox)(sandbox.id);
        notifyDone(verb === 'Stop' ? `${sandbox.name} stopped` : `${sandbox.name} deleted`);
        await queries.invalidateQueries({ queryKey: ['everybody'] });
      },
    });
  return (
    <Page
      title="Everybody's sandboxes"
      about={data && <Counts shown={rows.length} total={total} />}
      actions={<WhoseSwitch whose="everybody" />}
    >
      {error && <ProblemPanel title="The list cannot be shown" error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading what="sandboxes" lines={9} />}
      {data && (
        <DataTable
          label="Everybody's sandboxes"
          head={['Name', 'Owner', 'State', 'Size', 'Last use', 'Actions']}
        >
          {rows.map((sandbox) => (
            <Row key={sandbox.id} sandbox={sandbox} mayLook={mayLook} ask={ask} />
          ))}
        </DataTable>
      )}
      {hasNextPage && (
        <div>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            More
          </Button>
        </div>
      )}
      <Confirm question={question} close={() => setQuestion(null)} />
    </Page>
  );
}

function Counts({ shown, total }: { shown: number; total: number }) {
  const all = counted(total, 'sandbox', 'sandboxes');
  return <span className="numbers">{shown < total ? `${formatCount(shown)} of ${all}` : all}</span>;
}

interface RowProps {
  sandbox: OwnedSandbox;
  mayLook: boolean;
  ask(sandbox: OwnedSandbox, verb: 'Stop' | 'Delete'): void;
}

function Row({ sandbox, mayLook, ask }: RowProps) {
  const { id, name, owner, state, operation, resources, last_activity_at } = sandbox;
  const { cpu, memory, disk } = resources;
  return (
    <tr>
      <td className="break" title={id}>
        {name}
      </td>
      <td title={owner.id}>{owner.email ?? `Team ${owner.name}`}</td>
      <td>
        <State state={operation ?? state} />
      </td>
      <td className="numbers">{`${cpu} vCPU, ${memory} GB, ${disk} GB disk`}</td>
      <td className="numbers">{new Date(last_activity_at).toLocaleString()}</td>
      <td>
        <div className="row">
          {mayLook && (
            <Button
              variant="default"
              size="compact-xs"
              onClick={() => actFor(owner.id, `/sandboxes/${id}`)}
              aria-label={`Look inside ${name}`}
            >
              Look inside
            </Button>
          )}
          {state === 'started' && (
            <Button
              variant="default"
              size="compact-xs"
              onClick={() => ask(sandbox, 'Stop')}
              aria-label={`Stop ${name}`}
            >
              Stop
            </Button>
          )}
          <Button
            variant="default"
            size="compact-xs"
            onClick={() => ask(sandbox, 'Delete')}
            aria-label={`Delete ${name}`}
          >
            Delete
          </Button>
        </div>
      </td>
    </tr>
  );
}
