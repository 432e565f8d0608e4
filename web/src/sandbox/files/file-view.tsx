/** The open file: a preview where there is one, and the editor. */
import { Button, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { formatBytes } from '../../format/quantity.ts';
import { Empty } from '../../parts/empty.tsx';
import { Loading } from '../../parts/loading.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { Editing } from './editing.tsx';
import classes from './files.module.css';
import { kindOf, nameOf, textOf } from './paths.ts';
import { Picture } from './picture.tsx';
import { fileQuery, type OpenFile } from './queries.ts';
import { TablePreview } from './table-preview.tsx';
import type { FileActions } from './use-file-actions.tsx';

const Markdown = lazy(() => import('./markdown.tsx'));

interface FileViewProps {
  sandbox: string;
  path: string;
  line: number | undefined;
  actions: FileActions;
}

export function FileView(props: FileViewProps) {
  const { sandbox, path, actions } = props;
  const { data, error, refetch, dataUpdatedAt } = useQuery(
    fileQuery(sandbox, path, kindOf(path) === 'image'),
  );
  const reload = () => void refetch();
  if (data) return <Opened key={dataUpdatedAt} {...props} file={data} reload={reload} />;
  return (
    <>
      <Head path={path} actions={actions} />
      <div className={classes['viewBody']}>
        {error ? (
          <ProblemPanel title="Not opened" error={error} retry={reload} />
        ) : (
          <Loading what={nameOf(path)} />
        )}
      </div>
    </>
  );
}

function Opened({
  sandbox,
  path,
  line,
  actions,
  file,
  reload,
}: FileViewProps & { file: OpenFile; reload(): void }) {
  const kind = kindOf(path);
  const text = kind === 'image' && !path.endsWith('.svg') ? null : textOf(file.bytes, { cut: file.cut });
  const canShow = kind !== 'text' && (text !== null || kind === 'image');
  const [shown, setShown] = useState(canShow && line === undefined ? 'preview' : 'edit');
  const choice = canShow && text !== null && (
    <SegmentedControl
      aria-label="Shown"
      value={shown}
      onChange={setShown}
      data={[
        { value: 'preview', label: 'Preview' },
        { value: 'edit', label: 'Edit' },
      ]}
    />
  );
  if (shown === 'preview' && canShow) {
    return (
      <>
        <Head path={path} size={file.size} actions={actions}>
          {choice}
        </Head>
        <div
          className={classes['viewBody']}
          role="region"
          aria-label={`Preview of ${nameOf(path)}`}
          tabIndex={0}
        >
          <Suspense fallback={<Loading what="the preview" />}>
            {kind === 'image' && <Picture path={path} file={file} />}
            {kind === 'table' && <TablePreview text={text ?? ''} cut={file.cut} />}
            {kind === 'markdown' && <Markdown text={text ?? ''} />}
          </Suspense>
        </div>
      </>
    );
  }
  if (text === null) {
    return (
      <>
        <Head path={path} size={file.size} actions={actions} />
        <Empty icon="file" title="This file is no text">
          It can be downloaded.
        </Empty>
      </>
    );
  }
  return (
    <Editing sandbox={sandbox} path={path} line={line} text={text} file={file} reload={reload}>
      {(tools) => (
        <Head path={path} size={file.size} actions={actions}>
          {choice}
          {tools}
        </Head>
      )}
    </Editing>
  );
}

interface HeadProps {
  path: string;
  size?: number;
  actions: FileActions;
  children?: React.ReactNode;
}

function Head({ path, size, actions, children }: HeadProps) {
  return (
    <header className={classes['viewHead']}>
      <h2 className="ellipsis grow mono" title={path} style={{ margin: 0 }}>
        {nameOf(path)}
      </h2>
      {size !== undefined && <span className="dimmed small numbers">{formatBytes(size)}</span>}
      {children}
      <Button variant="default" onClick={() => actions.download(path)}>
        Download
      </Button>
    </header>
  );
}
