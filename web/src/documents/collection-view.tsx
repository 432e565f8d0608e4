/** One collection: its schema first, since a query needs it to be loaded, then the query. */
import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { counted, formatCount } from '../format/quantity.ts';
import { Loading } from '../parts/loading.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { client } from '../service/client.ts';
import classes from './documents.module.css';
import type { Place } from './place.ts';
import { QueryPanel } from './query-panel.tsx';
import { type Field, SchemaTree } from './schema-tree.tsx';

export function CollectionView({ place }: { place: Place }) {
  const [shown, setShown] = useState('schema');
  const { data, error, refetch } = useQuery({
    queryKey: ['documents', place.database, place.collection, 'schema'],
    queryFn: ({ signal }) =>
      client.documentDb.getCollectionSchema(
        { database_name: place.database, collection_name: place.collection },
        { signal },
      ),
    staleTime: 10 * 60_000,
  });
  if (error)
    return <ProblemPanel title="The schema cannot be shown" error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the schema" lines={8} />;
  return (
    <div className={classes['view']}>
      <header className="row">
        <h2 className="break grow" style={{ margin: 0 }}>
          {place.collection}
          <span className="dimmed small">
            {' '}
            {data.document_count === null ? '' : `about ${counted(data.document_count, 'document')}`}
          </span>
        </h2>
        <SegmentedControl
          aria-label="Shown"
          value={shown}
          onChange={setShown}
          data={[
            { value: 'schema', label: 'Schema' },
            { value: 'query', label: 'Query' },
          ]}
        />
      </header>
      <div hidden={shown !== 'schema'} className="stack">
        <div className="dimmed small">
          From {formatCount(data.sampled)} documents ({data.sample_method}). {data.notes?.join(' ')}
        </div>
        <SchemaTree fields={data.fields as Field[]} />
        {data.indexes.length > 0 && (
          <div className="small">
            Indexes:{' '}
            {data.indexes.map(({ name, unique }) => `${name}${unique ? ' (unique)' : ''}`).join(', ')}
          </div>
        )}
      </div>
      <div hidden={shown !== 'query'}>
        <QueryPanel place={place} />
      </div>
    </div>
  );
}
