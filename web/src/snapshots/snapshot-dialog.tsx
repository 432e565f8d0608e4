/** Makes a snapshot of a container image. */

import { Modal, NumberInput, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { DialogEnd } from '../parts/buttons.tsx';
import { notifyDone } from '../parts/notify.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import classes from '../sandboxes/sandboxes.module.css';
import { client } from '../service/client.ts';

const sizes = [
  { key: 'cpu', label: 'vCPUs', min: 1, max: 16 },
  { key: 'memory', label: 'Memory in GB', min: 1, max: 64 },
  { key: 'disk', label: 'Disk in GB', min: 1, max: 200 },
  { key: 'gpu', label: 'GPUs', min: 0, max: 8 },
] as const;

type Sizes = Record<(typeof sizes)[number]['key'], number | string>;

export function SnapshotDialog({ opened, close }: { opened: boolean; close: () => void }) {
  return (
    <Modal
      opened={opened}
      onClose={close}
      title="New snapshot"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <SnapshotForm close={close} />
    </Modal>
  );
}

function SnapshotForm({ close }: { close: () => void }) {
  const [name, setName] = useState('');
  const [image, setImage] = useState('');
  const [entrypoint, setEntrypoint] = useState('');
  const [resources, setResources] = useState<Sizes>({ cpu: 2, memory: 4, disk: 20, gpu: 0 });
  const queries = useQueryClient();
  const make = useMutation({
    mutationFn: () => {
      const words = entrypoint.split('\n').filter((word) => word !== '');
      return client.createSnapshot({
        ...{ name: name.trim(), image: image.trim() },
        ...(words.length > 0 ? { entrypoint: words } : {}),
        resources: Object.fromEntries(Object.entries(resources).map(([key, value]) => [key, Number(value)])),
      });
    },
    async onSuccess() {
      notifyDone(`${name} is being made`);
      await queries.invalidateQueries({ queryKey: ['snapshots'] });
      close();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <div className={classes['form']}>
        <TextInput
          label="Name"
          required
          data-autofocus
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <TextInput
          label="Image"
          required
          placeholder="postgres:17"
          spellCheck={false}
          value={image}
          onChange={({ currentTarget }) => setImage(currentTarget.value)}
        />
        <Textarea
          className={classes['formWide'] ?? ''}
          label="Program that every sandbox starts"
          description="The program, then its arguments, one a line. The image's own is not started."
          rows={3}
          spellCheck={false}
          value={entrypoint}
          onChange={({ currentTarget }) => setEntrypoint(currentTarget.value)}
        />
        <SizeFields resources={resources} setResources={setResources} />
      </div>
      {make.error && <ProblemPanel title="No snapshot was made" error={make.error} />}
      <DialogEnd action="Create" busy={make.isPending} close={close} />
    </form>
  );
}

function SizeFields({ resources, setResources }: { resources: Sizes; setResources(sizes: Sizes): void }) {
  return sizes.map(({ key, label, min, max }) => (
    <NumberInput
      key={key}
      required
      label={label}
      min={min}
      max={max}
      value={resources[key]}
      onChange={(value) => setResources({ ...resources, [key]: value })}
    />
  ));
}
