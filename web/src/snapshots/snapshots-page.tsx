/** Snapshots: named images, or disks of sandboxes, with sizes, to make sandboxes from. */

import { Button } from '@mantine/core';
import type { CreateSnapshotResult } from '@sandhaven/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { formatBytes } from '../format/quantity.ts';
import { Away } from '../parts/away.tsx';
import { RefreshButton } from '../parts/buttons.tsx';
import { Confirm, type Question } from '../parts/confirm.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loading.tsx';
import { notifyDone } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { State } from '../parts/state.tsx';
import { CreateDialog } from '../sandboxes/create/create-dialog.tsx';
import { client } from '../service/client.ts';
import { snapshotsQuery } from '../service/queries.ts';
import { useActing } from '../shell/team-items.tsx';
import { ProgressLine } from './progress-line.tsx';
import { SnapshotDialog } from './snapshot-dialog.tsx';

/** Belongs to all, and stays. */
const BASE = 'base';

export function SnapshotsPage() {
  const queries = useQueryClient();
  const { viewer } = useActing();
  const { data, error, refetch, isFetching } = useQuery(snapshotsQuery);
  const [creating, setCreating] = useState(false);
  const [from, setFrom] = useState<string | null>(null);
  const [question, setQuestion] = useState<Question | null>(null);
  const askToDelete = ({ id, name, image, source }: CreateSnapshotResult) =>
    setQuestion({
      title: `Delete ${name}?`,
      body: `The snapshot of ${source ? `sandbox ${source.name}` : image} is deleted for good, and its name becomes free. Sandboxes that were made from it stay as they are.`,
      action: 'Delete',
      async run() {
        await client.snapshots.delete(id);
        notifyDone(`${name} deleted`);
        await queries.invalidateQueries({ queryKey: ['snapshots'] });
        void queries.invalidateQueries({ queryKey: ['users'] });
      },
    });
  return (
    <Page
      title="Snapshots"
      about="Named images, or disks of sandboxes, with sizes and a program to start. A sandbox made from one starts as a copy."
      actions={
        <>
          <RefreshButton busy={isFetching} refresh={refetch} />
          <Button
            leftSection={<Icon name="plus" size={14} />}
            disabled={viewer}
            title={viewer ? 'Viewers cannot change anything.' : undefined}
            onClick={() => setCreating(true)}
          >
            New snapshot
          </Button>
        </>
      }
    >
      {error && (
        <ProblemPanel title="The list is not up to date" error={error} retry={() => void refetch()} />
      )}
      {!data && !error && <Loading what="snapshots" />}
      {data?.length === 0 && (
        <Empty icon="camera" title="There is no snapshot yet">
          Make one of a container image that you use often, or take one on the page of a sandbox.
        </Empty>
      )}
      {data && data.length > 0 && (
        <DataTable
          label="Snapshots"
          head={['Name', 'State', 'Source', 'Starts', 'Sizes', 'Size', 'Created', 'Actions']}
        >
          {data.map((snapshot) => (
            <SnapshotRow key={snapshot.id} snapshot={snapshot} use={setFrom} remove={askToDelete} />
          ))}
        </DataTable>
      )}
      <SnapshotDialog opened={creating} close={() => setCreating(false)} />
      {from !== null && <CreateDialog opened close={() => setFrom(null)} snapshot={from} />}
      <Confirm question={question} close={() => setQuestion(null)} />
    </Page>
  );
}

interface SnapshotRowProps {
  snapshot: CreateSnapshotResult;
  use(name: string): void;
  remove(snapshot: CreateSnapshotResult): void;
}

function SnapshotRow({ snapshot, use, remove }: SnapshotRowProps) {
  const { viewer } = useActing();
  const { id, name, state, state_reason, image, source, entrypoint, resources, size_bytes, created_at } =
    snapshot;
  return (
    <tr>
      <td>
        <strong>{name}</strong>
      </td>
      <td>
        <State state={state} />
        {(state === 'pending' || state === 'pulling') && <ProgressLine id={id} />}
        {state_reason && <div className="dimmed small break">{state_reason}</div>}
      </td>
      <td className="break">
        {source && <div>sandbox {source.name}</div>}
        <code>{image}</code>
      </td>
      <td className="break">
        {entrypoint === null ? <span className="dimmed">nothing</span> : <code>{entrypoint.join(' ')}</code>}
      </td>
      <td>
        {resources.cpu} vCPU, {resources.memory} GB, {resources.disk} GB disk
        {resources.gpu > 0 && `, ${resources.gpu} GPU`}
      </td>
      <td>{size_bytes === null ? '–' : formatBytes(size_bytes)}</td>
      <td>
        <Away time={created_at} />
      </td>
      <td>
        <div className="row" style={{ flexWrap: 'nowrap' }}>
          <Button
            variant="default"
            disabled={viewer || state !== 'active'}
            onClick={() => use(name)}
            aria-label={`Use ${name} for a new sandbox`}
          >
            Use
          </Button>
          <Button
            variant="subtle"
            color="red"
            c="var(--mantine-color-error)"
            disabled={viewer || name === BASE}
            onClick={() => remove(snapshot)}
            aria-label={`Delete ${name}`}
          >
            Delete
          </Button>
        </div>
      </td>
    </tr>
  );
}
