/**
 * Shows an image or a PDF in a frame of another site, which holds this one file for some minutes: an attack
 * on a decoder or a viewer does not reach this page. Without a preview gateway, and for viewers, an image is
 * shown here.
 */
import { isSandhavenError } from '@sandhaven/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Loading } from '../../../parts/loading.tsx';
import { ProblemPanel } from '../../../parts/problem.tsx';
import classes from '../files.module.css';
import { kindOf, nameOf } from '../reading/paths.ts';
import { filePreviewQuery, type OpenFile } from '../reading/queries.ts';
import { Picture } from './picture.tsx';

export function FramedFile({ sandbox, path, file }: { sandbox: string; path: string; file: OpenFile }) {
  const { data, error, refetch } = useQuery(filePreviewQuery(sandbox, path, file.modified));
  const [isHere, setIsHere] = useState(false);
  const isImage = kindOf(path) === 'image';
  const hasNoPreview = isSandhavenError(error, 'unavailable') || isSandhavenError(error, 'permission_denied');
  if (isImage && (isHere || hasNoPreview)) return <Picture sandbox={sandbox} path={path} />;
  if (error) return <ProblemPanel title="No preview" error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the preview" />;
  return (
    <>
      <iframe
        className={classes['frame']}
        title={nameOf(path)}
        src={data.url}
        referrerPolicy="no-referrer"
        // Chromium opens no PDF in a frame with this attribute; the answer's own policy is a sandbox in both cases.
        {...(isImage ? { sandbox: '' } : {})}
      />
      {isImage && (
        <p className="dimmed small">
          Nothing to see? Previews have a site of their own, which your browser must reach.{' '}
          <button type="button" className={classes['asLink']} onClick={() => setIsHere(true)}>
            Show it in this page
          </button>
        </p>
      )}
    </>
  );
}
