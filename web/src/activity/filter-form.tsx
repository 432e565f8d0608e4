/** Filters of the audit log. */
import { Button, Select, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useSignedIn } from '../shell/signed-in.ts';
import { type ActivityFilter, outcomes, periods } from './filter.ts';

const periodNames = {
  '1h': 'Last hour',
  '24h': 'Last day',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
} as const;

interface FilterFormProps {
  filter: ActivityFilter;
  users: { value: string; label: string }[];
  change(filter: ActivityFilter): void;
}

export function FilterForm({ filter, users, change }: FilterFormProps) {
  const { role } = useSignedIn();
  const [action, setAction] = useState(filter.action ?? '');
  const [sandbox, setSandbox] = useState(filter.sandbox ?? '');
  const set = (part: { [K in keyof ActivityFilter]: ActivityFilter[K] | undefined | null }) => {
    const next = { ...filter, action, sandbox, ...part };
    change(
      Object.fromEntries(
        Object.entries(next).filter(([, value]) => value !== undefined && value !== null && value !== ''),
      ),
    );
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set({});
  };
  return (
    <search>
      <form className="row" onSubmit={submit}>
        <Select
          aria-label="Time"
          placeholder="Any time"
          clearable
          value={filter.since ?? null}
          onChange={(since) => set({ since: since as ActivityFilter['since'] })}
          data={periods.map((value) => ({ value, label: periodNames[value] }))}
        />
        {role === 'admin' && (
          <Select
            aria-label="User"
            placeholder="Any user"
            clearable
            searchable
            value={filter.user ?? null}
            onChange={(user) => set({ user })}
            data={users}
          />
        )}
        <TextInput
          aria-label="Action"
          placeholder="Action: Sandbox.RunCommand"
          spellCheck={false}
          value={action}
          onChange={({ currentTarget }) => setAction(currentTarget.value)}
        />
        <TextInput
          aria-label="Sandbox"
          placeholder="Sandbox: name or ID"
          spellCheck={false}
          value={sandbox}
          onChange={({ currentTarget }) => setSandbox(currentTarget.value)}
        />
        <Select
          aria-label="Outcome"
          placeholder="Any outcome"
          clearable
          value={filter.outcome ?? null}
          onChange={(outcome) => set({ outcome })}
          data={[...outcomes]}
        />
        <Button type="submit" variant="default">
          Filter
        </Button>
      </form>
    </search>
  );
}
