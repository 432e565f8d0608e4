/** The form of a query. */
import { Button, NumberInput, SegmentedControl, Textarea, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import classes from './documents.module.css';
import { sortOf } from './query-text.ts';

export type Kind = 'find' | 'count' | 'aggregate';

export interface Written {
  filter: string;
  projection: string;
  sort: string;
  pipeline: string;
  limit: number | string;
}

interface FieldsProps {
  written: Written;
  set(part: Partial<Written>): void;
}

interface QueryFormProps extends FieldsProps {
  kind: Kind;
  setKind(kind: Kind): void;
  busy: boolean;
  submit(event: FormEvent): void;
}

export function QueryForm({ kind, setKind, written, set, busy, submit }: QueryFormProps) {
  return (
    <form className="stack" onSubmit={submit}>
      <SegmentedControl
        aria-label="Kind of query"
        value={kind}
        onChange={(value) => setKind(value as Kind)}
        data={[
          { value: 'find', label: 'Find' },
          { value: 'count', label: 'Count' },
          { value: 'aggregate', label: 'Aggregate' },
        ]}
      />
      {kind === 'aggregate' ? (
        <Textarea
          label="Pipeline"
          description="An array of stages, as JSON"
          rows={6}
          spellCheck={false}
          classNames={{ input: classes['json'] ?? '' }}
          value={written.pipeline}
          onChange={({ currentTarget }) => set({ pipeline: currentTarget.value })}
        />
      ) : (
        <Textarea
          label="Filter"
          description="JSON; empty: all documents"
          rows={3}
          spellCheck={false}
          placeholder='{"age": {"$gte": 18}}'
          classNames={{ input: classes['json'] ?? '' }}
          value={written.filter}
          onChange={({ currentTarget }) => set({ filter: currentTarget.value })}
        />
      )}
      <div className="row-end">
        {kind === 'find' && <FindFields written={written} set={set} />}
        {kind !== 'count' && (
          <NumberInput
            label="Most documents"
            min={1}
            max={10_000}
            value={written.limit}
            onChange={(limit) => set({ limit })}
          />
        )}
        <Button type="submit" loading={busy}>
          Run
        </Button>
      </div>
    </form>
  );
}

function FindFields({ written, set }: FieldsProps) {
  return (
    <>
      <TextInput
        label="Fields"
        placeholder='{"name": 1}'
        spellCheck={false}
        value={written.projection}
        onChange={({ currentTarget }) => set({ projection: currentTarget.value })}
      />
      <TextInput
        label="Order"
        placeholder='{"age": -1}'
        spellCheck={false}
        value={written.sort}
        error={sortOf(written.sort) === null ? 'Such as {"age": -1}' : null}
        onChange={({ currentTarget }) => set({ sort: currentTarget.value })}
      />
    </>
  );
}
