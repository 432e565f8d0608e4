/** The document database: databases, collections, the schema of one, and queries. */
import { isSandhavenError } from '@sandhaven/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { formatBytes, formatCount } from '../format/quantity.ts';
import { Empty } from '../parts/empty.tsx';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loading.tsx';
import { Page } from '../parts/page.tsx';
import { causeOf, ProblemPanel } from '../parts/problem.tsx';
import { client } from '../service/client.ts';
import { CollectionView } from './collection-view.tsx';
import classes from './documents.module.css';
import type { Place } from './place.ts';

export function DocumentsPage() {
  const [place, setPlace] = useState<Place | null>(null);
  const { data, error, refetch } = useQuery({
    queryKey: ['documents', 'databases'],
    queryFn: ({ signal }) => client.documentDb.discoverDatabases({}, { signal }),
  });
  if (isSandhavenError(error, 'unavailable')) {
    return (
      <Page title="Documents">
        <Empty icon="database" title="No document database is connected">
          {causeOf(error).detail} {causeOf(error).hint}
        </Empty>
      </Page>
    );
  }
  return (
    <Page title="Documents" fill about="A read-only view: nothing here can change the database.">
      {error && (
        <ProblemPanel title="The databases cannot be shown" error={error} retry={() => void refetch()} />
      )}
      {!data && !error && <Loading what="databases" />}
      {data && (
        <div className={classes['documents']}>
          <nav className={classes['side']} aria-label="Collections">
            {data.result.length === 0 && <Empty icon="database" title="The server has no database" />}
            {data.result.map(({ name, size_on_disk }) => (
              <Database
                key={name}
                name={name}
                bytes={size_on_disk}
                only={data.result.length === 1}
                place={place}
                choose={setPlace}
              />
            ))}
          </nav>
          <div className={classes['main']}>
            {place ? (
              <CollectionView key={`${place.database} ${place.collection}`} place={place} />
            ) : (
              <Empty icon="database" title="No collection is open">
                Choose one to see its fields and to query it.
              </Empty>
            )}
          </div>
        </div>
      )}
    </Page>
  );
}

interface DatabaseProps {
  name: string;
  bytes: number;
  only: boolean;
  place: Place | null;
  choose(place: Place): void;
}

function Database({ name, bytes, only, place, choose }: DatabaseProps) {
  const [expanded, setExpanded] = useState(only);
  const { data, error } = useQuery({
    queryKey: ['documents', name, 'collections'],
    queryFn: ({ signal }) => client.documentDb.discoverCollections({ database_name: name }, { signal }),
    enabled: expanded,
  });
  return (
    <section>
      <button
        type="button"
        className={classes['database']}
        aria-expanded={expanded}
        onClick={() => setExpanded(!expanded)}
      >
        <Icon name={expanded ? 'down' : 'chevron'} size={12} />
        <strong className="ellipsis grow">{name}</strong>
        <span className="dimmed small">{formatBytes(bytes)}</span>
      </button>
      {expanded && error && <ProblemPanel title="Not listed" error={error} />}
      {expanded && !data && !error && <Loading what={`collections of ${name}`} lines={3} />}
      {expanded && data && (
        <ul className={classes['list']}>
          {data.result.map((collection) => (
            <li key={collection.name}>
              <button
                type="button"
                className={classes['collection']}
                aria-current={
                  place?.database === name && place.collection === collection.name ? 'true' : undefined
                }
                onClick={() => choose({ database: name, collection: collection.name })}
              >
                <span className="ellipsis grow">{collection.name}</span>
                <span className="dimmed small numbers">
                  {collection.document_count === null
                    ? collection.type
                    : formatCount(collection.document_count)}
                </span>
              </button>
            </li>
          ))}
          {data.result.length === 0 && <li className="dimmed">no collections</li>}
        </ul>
      )}
    </section>
  );
}
