/** Makes or changes a user. */

import { Modal, NumberInput, Select, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { DialogEnd } from '../parts/buttons.tsx';
import { notifyDone } from '../parts/notify.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import classes from '../sandboxes/sandboxes.module.css';
import { administration } from '../service/administration.ts';
import { quotaKinds, type Role, type User } from '../service/records.ts';
import { formOf, type UserForm, userParametersOf } from './user-form.ts';

const labels = {
  sandboxes: 'Sandboxes',
  cpu: 'vCPUs in use',
  memory: 'GB of memory in use',
  disk: 'GB of disk',
  snapshots: 'Snapshots',
} as const;

export function UserDialog({ user, close }: { user: User | null; close(): void }) {
  const queries = useQueryClient();
  const [form, setForm] = useState(() => formOf(user));
  const change = userParametersOf(form, user);
  const save = useMutation({
    mutationFn: () =>
      user === null
        ? administration.createUser(change)
        : administration.updateUser({ user: user.user_id, ...change }),
    async onSuccess({ name }) {
      notifyDone(`${name} saved`);
      await queries.invalidateQueries({ queryKey: ['users'] });
      close();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Modal
      opened
      onClose={close}
      title={user === null ? 'New user' : `Edit ${user.name}`}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form className="stack" onSubmit={submit}>
        <WhoFields form={form} setForm={setForm} />
        <QuotaFields form={form} setForm={setForm} isNew={user === null} />
        {user === null && (
          <div className="dimmed small">A new user has no key yet: make one below, and hand it over.</div>
        )}
        {save.error && <ProblemPanel title="Not saved" error={save.error} />}
        <DialogEnd
          action="Save"
          busy={save.isPending}
          disabled={Object.keys(change).length === 0}
          close={close}
        />
      </form>
    </Modal>
  );
}

interface FieldsProps {
  form: UserForm;
  setForm(form: UserForm): void;
}

function WhoFields({ form, setForm }: FieldsProps) {
  return (
    <div className={classes['form']}>
      <TextInput
        label="Name"
        required
        data-autofocus
        value={form.name}
        onChange={({ currentTarget }) => setForm({ ...form, name: currentTarget.value })}
      />
      <TextInput
        label="Email"
        type="email"
        required
        value={form.email}
        onChange={({ currentTarget }) => setForm({ ...form, email: currentTarget.value })}
      />
      <Select
        label="Role"
        description={roleWords[form.role]}
        allowDeselect={false}
        data={['member', 'viewer', 'admin']}
        value={form.role}
        onChange={(role) => setForm({ ...form, role: role as typeof form.role })}
      />
    </div>
  );
}

const roleWords: Record<Role, string> = {
  admin: 'Manages the service and its users',
  member: 'Has sandboxes and keys of their own',
  viewer: 'Sees, and changes nothing',
};

function QuotaFields({ form, setForm, isNew }: FieldsProps & { isNew: boolean }) {
  return (
    <fieldset className={classes['fieldset']}>
      <legend>{isNew ? 'Quota; empty: the default of the service' : 'Quota; empty: no limit'}</legend>
      <div className={classes['form']}>
        {quotaKinds.map((kind) => (
          <NumberInput
            key={kind}
            label={labels[kind]}
            min={0}
            value={form.quota[kind]}
            onChange={(limit) => setForm({ ...form, quota: { ...form.quota, [kind]: limit } })}
          />
        ))}
      </div>
    </fieldset>
  );
}
