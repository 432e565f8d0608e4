/** The way back: the disk of a sandbox put back to one of its snapshots. */
import { Button, Modal, Select } from '@mantine/core';
import type { Sandbox } from '@sandhaven/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { DialogEnd } from '../parts/buttons.tsx';
import { notifyDone } from '../parts/notify.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { client } from '../service/client.ts';
import { snapshotsQuery } from '../service/queries.ts';
import { sandboxesKey } from '../service/sandbox-list.ts';
import { useActing } from '../shell/team-items.tsx';

export function RollbackAction({ sandbox }: { sandbox: Sandbox }) {
  const { viewer } = useActing();
  const [opened, setOpened] = useState(false);
  const close = () => setOpened(false);
  return (
    <>
      {sandbox.operation === undefined && (
        <Button
          variant="default"
          disabled={viewer}
          title={viewer ? 'Viewers cannot change anything.' : undefined}
          onClick={() => setOpened(true)}
        >
          Roll back
        </Button>
      )}
      <Modal
        opened={opened}
        onClose={close}
        title={`Roll back ${sandbox.name}`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {opened && <RollbackForm sandbox={sandbox} close={close} />}
      </Modal>
    </>
  );
}

function RollbackForm({ sandbox, close }: { sandbox: Sandbox; close(): void }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const queries = useQueryClient();
  const snapshots = useQuery(snapshotsQuery);
  const own = (snapshots.data ?? []).filter(
    ({ source, state }) => source?.id === sandbox.id && state === 'active',
  );
  const rollback = useMutation({
    mutationFn: (snapshot: string) => client.sandbox(sandbox.id).rollback(snapshot),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: sandboxesKey });
      notifyDone(`${sandbox.name} rolled back`);
      close();
    },
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen !== null) rollback.mutate(chosen);
      }}
    >
      <div>
        The files become those of the snapshot, and later changes are lost. What runs in the sandbox ends, and
        it is started afterwards.
      </div>
      {snapshots.data && own.length === 0 ? (
        <div>There is no snapshot of this sandbox yet: take one first.</div>
      ) : (
        <Select
          label="Snapshot"
          required
          data-autofocus
          data={own.map(({ id, name }) => ({ value: id, label: name }))}
          value={chosen}
          onChange={setChosen}
        />
      )}
      {snapshots.error && <ProblemPanel title="The snapshots cannot be shown" error={snapshots.error} />}
      {rollback.error && <ProblemPanel title="Nothing was rolled back" error={rollback.error} />}
      <DialogEnd action="Roll back" busy={rollback.isPending} disabled={chosen === null} close={close} />
    </form>
  );
}
