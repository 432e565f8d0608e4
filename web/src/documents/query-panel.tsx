/** Asks a collection: a find, a count or a pipeline; the answer is a table or JSON. */
import { Button, NumberInput, SegmentedControl, Textarea, TextInput } from '@mantine/core';
import type { FindDocumentsResult } from '@sandhaven/sdk';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ProblemPanel } from '../parts/problem.tsx';
import { client } from '../service/client.ts';
import classes from './documents.module.css';
import type { Place } from './place.ts';
import { sortOf, splitArray } from './query-text.ts';
import { type Answer, ResultView } from './result-view.tsx';

type Kind = 'find' | 'count' | 'aggregate';

interface Written {
  filter: string;
  projection: string;
  sort: string;
  pipeline: string;
  limit: number | string;
}

export function QueryPanel({ place }: { place: Place }) {
  const [kind, setKind] = useState<Kind>('find');
  const [written, setWritten] = useState<Written>({
    filter: '',
    projection: '',
    sort: '{"_id": 1}',
    pipeline: '[\n  {"$match": {}}\n]',
    limit: 100,
  });
  const set = (part: Partial<Written>) => setWritten({ ...written, ...part });
  const query = useMutation({
    mutationFn: (next: FindDocumentsResult['next'] | undefined) => ask(kind, place, written, next),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    query.mutate(undefined);
  };
  const next = query.data && 'documents' in query.data ? query.data.next : undefined;
  return (
    <div className="stack">
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
          {kind === 'find' && (
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
          )}
          {kind !== 'count' && (
            <NumberInput
              label="Most documents"
              min={1}
              max={10_000}
              value={written.limit}
              onChange={(limit) => set({ limit })}
            />
          )}
          <Button type="submit" loading={query.isPending}>
            Run
          </Button>
        </div>
      </form>
      {query.error && <ProblemPanel title="The query did not run" error={query.error} />}
      {query.data && <ResultView answer={query.data} />}
      {next && (
        <div>
          <Button variant="default" loading={query.isPending} onClick={() => query.mutate(next)}>
            Next documents
          </Button>
        </div>
      )}
    </div>
  );
}

async function ask(
  kind: Kind,
  place: Place,
  written: Written,
  next: FindDocumentsResult['next'],
): Promise<Answer> {
  const where = { database_name: place.database, collection_name: place.collection };
  const filter = written.filter.trim() === '' ? {} : { filter_dict: written.filter };
  if (kind === 'count') {
    const { result, notes = [] } = await client.documentDb.countDocuments({ ...where, ...filter });
    return { count: result, notes };
  }
  const limit = { limit: Number(written.limit) || 100 };
  if (kind === 'aggregate') {
    const pipeline = splitArray(written.pipeline);
    if (pipeline === null) throw new Error('The pipeline is no array of stages, such as [{"$match": {}}].');
    const {
      result,
      has_more,
      notes = [],
    } = await client.documentDb.aggregateDocuments({ ...where, ...limit, pipeline });
    return { documents: result, hasMore: has_more, notes };
  }
  const sort = sortOf(written.sort);
  if (sort === null) throw new Error('The order is no object such as {"age": -1}.');
  const found = await client.documentDb.findDocuments({
    ...{ ...where, ...filter, ...limit },
    ...(written.projection.trim() === '' ? {} : { projection: written.projection }),
    ...(sort.length === 0 ? {} : { sort }),
    ...next,
  });
  return { documents: found.result, hasMore: found.has_more, next: found.next, notes: found.notes ?? [] };
}
