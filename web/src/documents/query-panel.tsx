/** Asks a collection: a find, a count or a pipeline; the answer is a table or JSON. */
import { Button } from '@mantine/core';
import type { FindDocumentsResult } from '@sandhaven/sdk';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ProblemPanel } from '../parts/problem.tsx';
import { ask } from './ask.ts';
import type { Place } from './place.ts';
import { type Kind, QueryForm, type Written } from './query-form.tsx';
import { ResultView } from './result-view.tsx';

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
      <QueryForm
        kind={kind}
        setKind={setKind}
        written={written}
        set={set}
        busy={query.isPending}
        submit={submit}
      />
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
