/** Copies of a sandbox: a snapshot of its disk, and forks. */
import { Button, Modal, NumberInput, TextInput } from '@mantine/core';
import type { Sandbox } from '@sandhaven/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { counted } from '../format/quantity.ts';
import { DialogEnd } from '../parts/buttons.tsx';
import { notifyDone, notifyFailed } from '../parts/notify.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { mayBeCopied } from '../sandboxes/actions.ts';
import { client } from '../service/client.ts';
import { sandboxesKey } from '../service/sandbox-list.ts';
import { useActing } from '../shell/team-items.tsx';

const MOST_FORKS = 100;

const copies = {
  snapshot: {
    action: 'Take snapshot',
    title: 'Take a snapshot of',
    failed: 'No snapshot was taken',
    name: 'Name of the snapshot',
    about:
      'The snapshot has the files of this sandbox as they are now, those that hold secrets too, and no running programs.',
  },
  fork: {
    action: 'Fork',
    title: 'Fork',
    failed: 'Nothing was forked',
    name: 'Name of the forks',
    about:
      'Each fork is a new sandbox with the files and settings of this one as they are now, and no running programs.',
  },
} as const;

type Kind = keyof typeof copies;

export function CopyActions({ sandbox }: { sandbox: Sandbox }) {
  const { viewer } = useActing();
  const [opened, setOpened] = useState<Kind | null>(null);
  const close = () => setOpened(null);
  return (
    <>
      {mayBeCopied(sandbox) &&
        (['snapshot', 'fork'] as const).map((kind) => (
          <Button
            key={kind}
            variant="default"
            disabled={viewer}
            title={viewer ? 'Viewers cannot change anything.' : undefined}
            onClick={() => setOpened(kind)}
          >
            {copies[kind].action}
          </Button>
        ))}
      <Modal
        opened={opened !== null}
        onClose={close}
        title={opened && `${copies[opened].title} ${sandbox.name}`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {opened && <CopyForm kind={opened} sandbox={sandbox} close={close} />}
      </Modal>
    </>
  );
}

function CopyForm({ kind, sandbox, close }: { kind: Kind; sandbox: Sandbox; close(): void }) {
  const [name, setName] = useState('');
  const [count, setCount] = useState<number | string>(1);
  const queries = useQueryClient();
  const { action, failed, name: label, about } = copies[kind];
  const make = useMutation({
    mutationFn: () => {
      const box = client.sandbox(sandbox.id);
      const named = name.trim() === '' ? {} : { name: name.trim() };
      return kind === 'snapshot' ? takeSnapshot(box, named) : fork(box, { ...named, count: Number(count) });
    },
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: kind === 'snapshot' ? ['snapshots'] : sandboxesKey });
      void queries.invalidateQueries({ queryKey: ['users'] });
      close();
    },
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        make.mutate();
      }}
    >
      <div>
        {about}
        {sandbox.state === 'started' && ' This sandbox stands still while its disk is copied, and goes on.'}
      </div>
      {kind === 'fork' && (
        <NumberInput label="How many" required min={1} max={MOST_FORKS} value={count} onChange={setCount} />
      )}
      <TextInput
        label={label}
        description="Generated when it is empty."
        data-autofocus
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      {make.error && <ProblemPanel title={failed} error={make.error} />}
      <DialogEnd action={action} busy={make.isPending} close={close} />
    </form>
  );
}

type Box = ReturnType<typeof client.sandbox>;

async function takeSnapshot(box: Box, named: { name?: string }): Promise<void> {
  const { name } = await box.snapshot(named);
  notifyDone(`Snapshot ${name} taken`);
}

async function fork(box: Box, options: { name?: string; count: number }): Promise<void> {
  const { sandboxes, failed } = await box.fork(options);
  notifyDone(`${counted(sandboxes.length, 'sandbox', 'sandboxes')} forked`);
  const [first] = failed;
  if (first) notifyFailed(`${counted(failed.length, 'fork')} not started`, new Error(first.detail));
}
