/** Uploads with how far they are. */
import { CloseButton, Progress } from '@mantine/core';
import { useEffect } from 'react';
import { formatBytes } from '../../format/quantity.ts';
import { announce } from '../../parts/announcer.tsx';
import { causeOf } from '../../parts/problem.tsx';
import classes from './files.module.css';
import { nameOf } from './reading/paths.ts';
import { dismiss, type Upload, useUploads } from './uploads.ts';

const DONE_SHOWN_MS = 3_000;

export function UploadList({ sandbox }: { sandbox: string }) {
  const uploads = useUploads(sandbox);
  if (uploads.length === 0) return null;
  return (
    <ul className={classes['uploads']} aria-label="Uploads">
      {uploads.map((upload) => (
        <UploadRow key={upload.id} upload={upload} />
      ))}
    </ul>
  );
}

function UploadRow({ upload }: { upload: Upload }) {
  const { id, state, path } = upload;
  const name = nameOf(path);
  useEffect(() => {
    if (state === 'failed') announce(`${name} was not uploaded`);
    if (state !== 'done') return undefined;
    announce(`${name} uploaded`);
    const timer = setTimeout(() => dismiss(id), DONE_SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state, id, name]);
  const percent = upload.size === 0 ? 100 : (upload.sent / upload.size) * 100;
  return (
    <li>
      <div className="row">
        <span className="ellipsis grow" title={path}>
          {name}
        </span>
        <span className="dimmed small numbers">
          {state === 'sending' ? `${formatBytes(upload.sent)} of ${formatBytes(upload.size)}` : state}
        </span>
        <CloseButton
          size="sm"
          aria-label={state === 'failed' || state === 'done' ? `Hide ${name}` : `Cancel ${name}`}
          onClick={upload.cancel}
        />
      </div>
      {state === 'failed' ? (
        <div className={`${classes['fault']} small`}>
          {causeOf(upload.error).detail} {causeOf(upload.error).hint}
        </div>
      ) : (
        <Progress value={percent} size="xs" aria-label={`Upload of ${name}`} />
      )}
    </li>
  );
}
