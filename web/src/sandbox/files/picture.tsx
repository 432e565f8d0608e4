/** Shows an image. As an image, even an SVG can run no script and fetch nothing. */
import { useEffect, useState } from 'react';
import { Empty } from '../../parts/empty.tsx';
import classes from './files.module.css';
import { imageTypeOf, nameOf } from './paths.ts';
import type { OpenFile } from './queries.ts';

export function Picture({ path, file }: { path: string; file: OpenFile }) {
  const [url, setUrl] = useState<string | null>(null);
  const [failed, setFailed] = useState(file.cut);
  useEffect(() => {
    if (file.cut) return undefined;
    const made = URL.createObjectURL(new Blob([file.bytes], { type: imageTypeOf(path) }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file, path]);
  if (failed) {
    return (
      <Empty
        icon="file"
        title={file.cut ? 'This image is too large to show' : 'This file is no image that a browser can show'}
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
