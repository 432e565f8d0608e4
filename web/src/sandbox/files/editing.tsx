/** Edits a text file, and asks before changes are lost. */
import { Button } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { lazy, type ReactNode, type RefObject, Suspense } from 'react';
import { Confirm } from '../../parts/confirm.tsx';
import { Loading } from '../../parts/loading.tsx';
import type { EditorHandle } from './editor.tsx';
import classes from './files.module.css';
import { type FilesSearch, nameOf } from './reading/paths.ts';
import type { OpenFile } from './reading/queries.ts';
import { useSaving } from './use-saving.tsx';

const Editor = lazy(() => import('./editor.tsx'));

interface EditingProps {
  sandbox: string;
  path: string;
  line: number | undefined;
  text: string;
  file: OpenFile;
  editor: RefObject<EditorHandle | null>;
  /** Hidden while a preview is shown; the typed text stays. */
  hidden: boolean;
  reload(): void;
  children(tools: ReactNode): ReactNode;
}

export function Editing(props: EditingProps) {
  const { sandbox, path, line, text, file, editor, hidden, reload, children } = props;
  const { dirty, setDirty, busy, save, question } = useSaving({ sandbox, path, file, editor });
  const tools = file.cut ? (
    <span className="dimmed small">the first part, read-only</span>
  ) : (
    <>
      <span className="dimmed small" role="status">
        {dirty ? 'unsaved' : ''}
      </span>
      <Button variant="default" disabled={busy || dirty} onClick={reload}>
        Reload
      </Button>
      <Button loading={busy} disabled={!dirty} onClick={save}>
        Save
      </Button>
    </>
  );
  return (
    <>
      {children(tools)}
      <div className={classes['editor']} hidden={hidden}>
        <Suspense fallback={<Loading what="the editor" />}>
          <Editor
            ref={editor}
            name={nameOf(path)}
            text={text}
            line={line}
            readOnly={file.cut}
            onDirty={setDirty}
            onSave={save}
          />
        </Suspense>
      </div>
      {question}
      <LeavingGuard dirty={dirty} name={nameOf(path)} />
    </>
  );
}

function LeavingGuard({ dirty, name }: { dirty: boolean; name: string }) {
  const leaving = useBlocker({
    // A search that leads to another line of this file loses nothing.
    shouldBlockFn: ({ current, next }) => dirty && placeOf(current) !== placeOf(next),
    enableBeforeUnload: () => dirty,
    withResolver: true,
  });
  const question = {
    title: 'Leave without saving?',
    body: `The changes to ${name} are lost.`,
    action: 'Leave',
    run: async () => leaving.proceed?.(),
  };
  return (
    <Confirm question={leaving.status === 'blocked' ? question : null} close={() => leaving.reset?.()} />
  );
}

function placeOf({ pathname, search }: { pathname: string; search: object }): string {
  return `${pathname} ${(search as FilesSearch).file}`;
}
