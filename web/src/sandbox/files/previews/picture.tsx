/** Shows an image in this page. As an image, even an SVG can run no script and fetch nothing. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Empty } from '../../../parts/empty.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { ProblemPanel } from '../../../parts/problem.tsx';
import classes from '../files.module.css';
import { imageTypeOf, nameOf } from '../reading/paths.ts';
import { pictureQuery } from '../reading/queries.ts';

export function Picture({ sandbox, path }: { sandbox: string; path: string }) {
  const { data, error, refetch } = useQuery(pictureQuery(sandbox, path));
  const [url, setUrl] = useState<string | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (!data) return undefined;
    const made = URL.createObjectURL(new Blob([data], { type: imageTypeOf(path) }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data, path]);
  if (error) return <ProblemPanel title="Not opened" error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what={nameOf(path)} />;
  if (failed || data === null) {
    return (
      <Empty
        icon="file"
        title={
          failed ? 'This file is not an image that a browser can show' : 'This image is too large to show'
        }
      >
        It can be downloaded.
      </Empty>
    );
  }
  return (
    <div className={classes['picture']}>
      {url && <img src={url} alt={nameOf(path)} onError={() => setFailed(true)} />}
    </div>
  );
}
