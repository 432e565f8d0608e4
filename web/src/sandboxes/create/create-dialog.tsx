/** Makes a sandbox, with every option there is. */
import { Checkbox, Modal, NumberInput, SegmentedControl, Select, Textarea, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { DialogEnd } from '../../parts/buttons.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import classes from '../sandboxes.module.css';
import { emptyForm, type Form, faultsOf, languages, parametersOf, ranges } from './form.ts';
import { SnapshotPicker } from './snapshot-picker.tsx';
import { useCreate } from './use-create.ts';

export function CreateDialog({
  opened,
  close,
  snapshot,
}: {
  opened: boolean;
  close: () => void;
  snapshot?: string;
}) {
  return (
    <Modal
      opened={opened}
      onClose={close}
      title="New sandbox"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <CreateForm
        close={close}
        start={snapshot === undefined ? emptyForm : { ...emptyForm, source: 'snapshot', snapshot }}
      />
    </Modal>
  );
}

function CreateForm({ close, start }: { close: () => void; start: Form }) {
  const navigate = useNavigate();
  const [form, setForm] = useState(start);
  const [shown, setShown] = useState(false);
  const { create, busy, error, progress } = useCreate(({ id }) => {
    close();
    void navigate({ to: '/sandboxes/$id', params: { id } });
  });
  const faults = faultsOf(form);
  const set = (part: Partial<Form>) => setForm((before) => ({ ...before, ...part }));
  const fault = (key: keyof Form) => (shown ? faults[key] : undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setShown(true);
    if (Object.keys(faults).length === 0) create(parametersOf(form));
  };
  return (
    <form onSubmit={submit} className="stack" noValidate>
      <div className={classes['form']}>
        <TextInput
          label="Name"
          placeholder="generated"
          data-autofocus
          value={form.name}
          error={fault('name')}
          onChange={({ currentTarget }) => set({ name: currentTarget.value })}
        />
        <Select
          label="Language of RunCode"
          data={[...languages]}
          allowDeselect={false}
          value={form.language}
          onChange={(language) => set({ language: language as Form['language'] })}
        />
        <div className={classes['formWide']}>
          <SourceFields form={form} set={set} fault={fault} />
        </div>
        {form.source !== 'snapshot' && <SizeFields form={form} set={set} fault={fault} />}
        <NumberInput
          label="Stops after idle minutes (0: never)"
          min={0}
          value={form.auto_stop_minutes}
          error={fault('auto_stop_minutes')}
          onChange={(auto_stop_minutes) => set({ auto_stop_minutes })}
        />
        <TextInput
          label="User of calls"
          placeholder={form.source === 'snapshot' ? 'the snapshot’s' : 'root'}
          spellCheck={false}
          autoComplete="off"
          value={form.user}
          onChange={({ currentTarget }) => set({ user: currentTarget.value })}
        />
        <PairFields form={form} set={set} fault={fault} />
        <Checkbox
          className={classes['formWide'] ?? ''}
          label="Ephemeral: a stop deletes it, with its disk"
          checked={form.ephemeral}
          onChange={({ currentTarget }) => set({ ephemeral: currentTarget.checked })}
        />
      </div>
      {error !== null && <ProblemPanel title="No sandbox was made" error={error} />}
      <DialogEnd action="Create" busy={busy} close={close}>
        <span className="dimmed grow" role="status">
          {progress}
        </span>
      </DialogEnd>
    </form>
  );
}

interface FieldsProps {
  form: Form;
  set(part: Partial<Form>): void;
  fault(key: keyof Form): string | undefined;
}

function SourceFields({ form, set, fault }: FieldsProps) {
  return (
    <div className="stack">
      <SegmentedControl
        aria-label="Made from"
        value={form.source}
        onChange={(source) => set({ source: source as Form['source'] })}
        data={[
          { value: 'base', label: 'Base' },
          { value: 'image', label: 'Image' },
          { value: 'snapshot', label: 'Snapshot' },
        ]}
      />
      {form.source === 'image' && (
        <TextInput
          label="Image"
          placeholder="debian:13"
          value={form.image}
          error={fault('image')}
          onChange={({ currentTarget }) => set({ image: currentTarget.value })}
        />
      )}
      {form.source === 'snapshot' && (
        <SnapshotPicker
          value={form.snapshot}
          error={fault('snapshot')}
          change={(snapshot) => set({ snapshot })}
        />
      )}
    </div>
  );
}

const sizeLabels = { cpu: 'vCPUs', memory_gb: 'Memory in GB', disk_gb: 'Disk in GB', gpu: 'GPUs' } as const;

function SizeFields({ form, set, fault }: FieldsProps) {
  return (['cpu', 'memory_gb', 'disk_gb', 'gpu'] as const).map((key) => (
    <NumberInput
      key={key}
      label={sizeLabels[key]}
      min={ranges[key].min}
      max={ranges[key].max}
      value={form[key]}
      error={fault(key)}
      onChange={(value) => set({ [key]: value })}
    />
  ));
}

function PairFields({ form, set, fault }: FieldsProps) {
  return (['labels', 'env_vars'] as const).map((key) => (
    <Textarea
      key={key}
      className={classes['formWide'] ?? ''}
      label={key === 'labels' ? 'Labels' : 'Environment variables'}
      description="One key=value a line"
      rows={2}
      value={form[key]}
      error={fault(key)}
      spellCheck={false}
      onChange={({ currentTarget }) => set({ [key]: currentTarget.value })}
    />
  ));
}
