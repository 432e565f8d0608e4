/** The open file: a preview where there is one, and the editor. */
import { Button, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { formatBytes } from '../../format/quantity.ts';
import { Empty } from '../../parts/empty.tsx';
import { Loading } from '../../parts/loading.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { Editing } from './editing.tsx';
import type { EditorHandle } from './editor.tsx';
import classes from './files.module.css';
import { FramedFile } from './previews/framed-file.tsx';
import { TablePreview } from './previews/table-preview.tsx';
import { isBinary, kindOf, nameOf, textOf } from './reading/paths.ts';
import { fileQuery, type OpenFile } from './reading/queries.ts';
import type { FileActions } from './use-file-actions.tsx';

const Markdown = lazy(() => import('./previews/markdown.tsx'));
const Notebook = lazy(() => import('./previews/notebook.tsx'));

interface FileViewProps {
  sandbox: string;
  path: string;
  line: number | undefined;
  actions: FileActions;
}

export function FileView(props: FileViewProps) {
  const { sandbox, path, actions } = props;
  const { data, error, refetch, dataUpdatedAt } = useQuery(fileQuery(sandbox, path));
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

function Opened({ sandbox, path, line, actions, file, reload }: OpenedProps) {
  const kind = kindOf(path);
  const isFramed = kind === 'image' || kind === 'pdf';
  const text = isBinary(path) ? null : textOf(file.bytes, { cut: file.cut });
  const canShow = kind !== 'text' && (text !== null || isFramed);
  const editor = useRef<EditorHandle>(null);
  const [shown, setShown] = useState(canShow && line === undefined ? 'preview' : 'edit');
  // The editor is loaded on its first use, and stays.
  const [begun, setBegun] = useState(shown === 'edit');
  const [draft, setDraft] = useState(text ?? '');
  const show = (next: string) => {
    if (next === 'preview') setDraft(editor.current?.text() ?? draft);
    else setBegun(true);
    setShown(next);
  };
  const [lineBefore, setLineBefore] = useState(line);
  if (line !== lineBefore) {
    setLineBefore(line);
    if (line !== undefined) show('edit');
  }
  const head = (tools: ReactNode) => (
    <Head path={path} size={file.size} actions={actions}>
      {canShow && text !== null && <ShownChoice value={shown} change={show} />}
      {tools}
    </Head>
  );
  return (
    <>
      {begun && text !== null ? (
        <Editing {...{ sandbox, path, line, text, file, editor, reload }} hidden={shown === 'preview'}>
          {head}
        </Editing>
      ) : (
        head(null)
      )}
      {shown === 'preview' && <Preview {...{ sandbox, path, file }} text={draft} edit={() => show('edit')} />}
      {shown === 'edit' && text === null && (
        <Empty icon="file" title="This file is not text">
          It can be downloaded.
        </Empty>
      )}
    </>
  );
}

interface OpenedProps extends FileViewProps {
  file: OpenFile;
  reload(): void;
}

function ShownChoice({ value, change }: { value: string; change(value: string): void }) {
  return (
    <SegmentedControl
      aria-label="Shown"
      value={value}
      onChange={change}
      data={[
        { value: 'preview', label: 'Preview' },
        { value: 'edit', label: 'Edit' },
      ]}
    />
  );
}

interface PreviewProps {
  sandbox: string;
  path: string;
  file: OpenFile;
  text: string;
  edit(): void;
}

function Preview({ sandbox, path, file, text, edit }: PreviewProps) {
  const kind = kindOf(path);
  return (
    <div className={classes['viewBody']} role="region" aria-label={`Preview of ${nameOf(path)}`} tabIndex={0}>
      <Suspense fallback={<Loading what="the preview" />}>
        {(kind === 'image' || kind === 'pdf') && <FramedFile {...{ sandbox, path, file }} />}
        {kind === 'table' && <TablePreview text={text} cut={file.cut} />}
        {kind === 'markdown' && <Markdown text={text} />}
        {kind === 'notebook' && <Notebook text={text} cut={file.cut} showText={edit} />}
      </Suspense>
    </div>
  );
}

interface HeadProps {
  path: string;
  size?: number;
  actions: FileActions;
  children?: ReactNode;
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
