/** Saves an edited file, and asks first where another program has changed it meanwhile. */
import { isSandhavenError } from '@sandhaven/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { Confirm, type Question } from '../../parts/confirm.tsx';
import { notifyDone, notifyFailed } from '../../parts/notify.tsx';
import { client } from '../../service/client.ts';
import type { EditorHandle } from './editor.tsx';
import { nameOf, parentOf } from './reading/paths.ts';
import type { OpenFile } from './reading/queries.ts';

interface SavingParts {
  sandbox: string;
  path: string;
  file: OpenFile;
  editor: RefObject<EditorHandle | null>;
}

interface Saving {
  dirty: boolean;
  setDirty(dirty: boolean): void;
  busy: boolean;
  save(): void;
  /** Must be rendered. */
  question: ReactNode;
}

export function useSaving({ sandbox, path, file, editor }: SavingParts): Saving {
  const queries = useQueryClient();
  const modified = useRef(file.modified);
  const [dirty, setDirty] = useState(false);
  const [busy, setBusy] = useState(false);
  const [question, setQuestion] = useState<Question | null>(null);

  const write = async (content: string) => {
    setBusy(true);
    try {
      await client.files.upload(sandbox, path, content);
      modified.current = (await client.getFileInfo({ sandbox, path })).modified_time;
      setDirty(editor.current?.text() !== content);
      notifyDone(`${nameOf(path)} saved`);
      void queries.invalidateQueries({ queryKey: ['inside', sandbox, 'folder', parentOf(path)] });
    } catch (error) {
      notifyFailed(`${nameOf(path)} was not saved`, error);
    } finally {
      setBusy(false);
    }
  };

  const save = async () => {
    const content = editor.current?.text();
    if (content === undefined || file.cut || busy) return;
    const now = await modifiedNow(sandbox, path).catch((error: unknown) => {
      notifyFailed(`${nameOf(path)} was not saved`, error);
      return undefined;
    });
    if (now === undefined) return;
    // A file that was deleted is made anew.
    if (now === null || now === modified.current) return write(content);
    setQuestion({
      title: `${nameOf(path)} was changed meanwhile`,
      body: 'Another program has changed the file since it was opened here. Saving overwrites that change.',
      action: 'Save anyway',
      run: () => write(content),
    });
  };

  const asked = <Confirm question={question} close={() => setQuestion(null)} />;
  return { dirty, setDirty, busy, save: () => void save(), question: asked };
}

/** @returns null where the file is no more. */
async function modifiedNow(sandbox: string, path: string): Promise<string | null> {
  try {
    return (await client.getFileInfo({ sandbox, path })).modified_time;
  } catch (error) {
    if (isSandhavenError(error, 'not_found')) return null;
    throw error;
  }
}
