/** Edits a text file and saves it, unless another has changed it meanwhile. */
import { Button } from '@mantine/core';
import { isSandhavenError } from '@sandhaven/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useCallback, useRef, useState } from 'react';
import { Confirm, type Question } from '../../parts/confirm.tsx';
import { Loading } from '../../parts/loading.tsx';
import { notifyDone, notifyFailed } from '../../parts/notify.tsx';
import { client } from '../../service/client.ts';
import type { EditorHandle } from './editor.tsx';
import classes from './files.module.css';
import { nameOf, parentOf } from './paths.ts';
import type { OpenFile } from './queries.ts';

const Editor = lazy(() => import('./editor.tsx'));

interface EditingProps {
  sandbox: string;
  path: string;
  line: number | undefined;
  text: string;
  file: OpenFile;
  reload(): void;
  children(tools: ReactNode): ReactNode;
}

export function Editing({ sandbox, path, line, text, file, reload, children }: EditingProps) {
  const editor = useRef<EditorHandle>(null);
  const modified = useRef(file.modified);
  const [dirty, setDirty] = useState(false);
  const [busy, setBusy] = useState(false);
  const [question, setQuestion] = useState<Question | null>(null);
  const queries = useQueryClient();
  const leaving = useBlocker({
    shouldBlockFn: () => dirty,
    enableBeforeUnload: () => dirty,
    withResolver: true,
  });

  const write = useCallback(
    async (content: string) => {
      setBusy(true);
      try {
        await client.files.upload(sandbox, path, content);
        const { modified_time } = await client.getFileInfo({ sandbox, path });
        modified.current = modified_time;
        setDirty(editor.current?.text() !== content);
        notifyDone(`${nameOf(path)} saved`);
        void queries.invalidateQueries({ queryKey: ['sandbox', sandbox, 'folder', parentOf(path)] });
      } catch (error) {
        notifyFailed(`${nameOf(path)} was not saved`, error);
      } finally {
        setBusy(false);
      }
    },
    [sandbox, path, queries],
  );

  const save = useCallback(async () => {
    const content = editor.current?.text();
    if (content === undefined || file.cut) return;
    const now = await client.getFileInfo({ sandbox, path }).catch((error: unknown) => {
      // A file that was deleted is made anew.
      if (isSandhavenError(error, 'not_found')) return null;
      notifyFailed(`${nameOf(path)} was not saved`, error);
      return undefined;
    });
    if (now === undefined) return;
    if (now === null || now.modified_time === modified.current) return void write(content);
    setQuestion({
      title: `${nameOf(path)} was changed meanwhile`,
      body: 'Saving replaces what another program has written since it was opened here; that is lost.',
      action: 'Save all the same',
      run: () => write(content),
    });
  }, [sandbox, path, file.cut, write]);

  const isBlocked = leaving.status === 'blocked';
  return (
    <>
      {children(
        file.cut ? (
          <span className="dimmed small">the first part, to read</span>
        ) : (
          <>
            <span className="dimmed small" role="status">
              {dirty ? 'unsaved' : ''}
            </span>
            <Button variant="default" disabled={busy || dirty} onClick={reload}>
              Reload
            </Button>
            <Button loading={busy} disabled={!dirty} onClick={() => void save()}>
              Save
            </Button>
          </>
        ),
      )}
      <div className={classes['editor']}>
        <Suspense fallback={<Loading what="the editor" />}>
          <Editor
            ref={editor}
            name={nameOf(path)}
            text={text}
            line={line}
            readOnly={file.cut}
            onDirty={setDirty}
            onSave={() => void save()}
          />
        </Suspense>
      </div>
      <Confirm question={question} close={() => setQuestion(null)} />
      <Confirm
        question={
          isBlocked
            ? {
                title: 'Leave without saving?',
                body: `The changes to ${nameOf(path)} are lost.`,
                action: 'Leave',
                run: async () => leaving.proceed?.(),
              }
            : null
        }
        close={() => leaving.reset?.()}
      />
    </>
  );
}
