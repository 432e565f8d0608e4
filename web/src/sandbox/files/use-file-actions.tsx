/** Changes files: uploads, new ones, other names, deletions. Each asks before something is lost. */
import { isSandhavenError } from '@sandhaven/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { counted } from '../../format/quantity.ts';
import { Confirm, type Question } from '../../parts/confirm.tsx';
import { notifyDone, notifyFailed } from '../../parts/notify.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { client } from '../../service/client.ts';
import { NameDialog, type NameQuestion } from './name-dialog.tsx';
import { joined, nameOf, parentOf } from './reading/paths.ts';
import { upload } from './uploads.ts';

export interface FileActions {
  upload(folder: string, files: readonly File[]): void;
  newFile(folder: string): void;
  newFolder(folder: string): void;
  rename(path: string): void;
  remove(path: string, isFolder: boolean): void;
  download(path: string): void;
  /** Must be rendered. */
  dialogs: ReactNode;
}

type Moved = (path: string, to: string | null) => void;

/** @param moved Gets the new path of a file; null when it was deleted. */
export function useFileActions(sandbox: string, moved: Moved): FileActions {
  const queries = useQueryClient();
  const [question, setQuestion] = useState<Question | null>(null);
  const [naming, setNaming] = useState<NameQuestion | null>(null);
  const refresh = (folder: string) =>
    queries.invalidateQueries({ queryKey: ['inside', sandbox, 'folder', folder] });

  const send = async (folder: string, files: readonly File[]) => {
    await Promise.all(files.map((file) => upload(sandbox, joined(folder, file.name), file)));
    await refresh(folder);
  };

  const askToUpload = async (folder: string, files: readonly File[]) => {
    const there = await existing(sandbox, folder, files);
    if (there.length === 0) return void send(folder, files);
    setQuestion({
      title: `Replace ${counted(there.length, 'file')}?`,
      body: `The content of ${there.length === 1 ? 'this file' : 'these files'} is lost: ${there.join(', ')}`,
      action: `Replace ${counted(there.length, 'file')}`,
      run: async () => void send(folder, files),
    });
  };

  const questions = nameQuestions(sandbox, refresh, moved);
  return {
    upload: (folder, files) =>
      void askToUpload(folder, files).catch((error: unknown) => notifyFailed('Nothing was uploaded', error)),
    newFile: (folder) => setNaming(questions.newFile(folder)),
    newFolder: (folder) => setNaming(questions.newFolder(folder)),
    rename: (path) => setNaming(questions.rename(path)),
    remove: (path, isFolder) => setQuestion(deletion(sandbox, path, isFolder, refresh, moved)),
    download: (path) => void save(sandbox, path),
    dialogs: (
      <>
        <Confirm question={question} close={() => setQuestion(null)} />
        <NameDialog question={naming} close={() => setNaming(null)} />
      </>
    ),
  };
}

type Refresh = (folder: string) => Promise<void>;

function nameQuestions(sandbox: string, refresh: Refresh, moved: Moved) {
  return {
    newFile: (folder: string): NameQuestion => ({
      ...{ title: 'New file', action: 'Create', name: '' },
      async run(name) {
        const path = joined(folder, name);
        const there = await existing(sandbox, folder, [{ name }]);
        if (there.length > 0) throw new Error(`${name} exists already.`);
        await client.writeFile({ sandbox, path, content: '' });
        await refresh(folder);
        moved('', path);
      },
    }),
    newFolder: (folder: string): NameQuestion => ({
      ...{ title: 'New folder', action: 'Create', name: '' },
      async run(name) {
        await client.createFolder({ sandbox, path: joined(folder, name) });
        await refresh(folder);
      },
    }),
    rename: (path: string): NameQuestion => ({
      ...{ title: `Rename ${nameOf(path)}`, action: 'Rename', name: nameOf(path) },
      async run(name) {
        const destination = joined(parentOf(path), name);
        if (destination === path) return;
        await client.moveFile({ sandbox, source: path, destination });
        await refresh(parentOf(path));
        moved(path, destination);
      },
    }),
  };
}

function deletion(
  sandbox: string,
  path: string,
  isFolder: boolean,
  refresh: Refresh,
  moved: Moved,
): Question {
  return {
    title: `Delete ${nameOf(path)}?`,
    body: isFolder
      ? `The folder ${path} and everything in it are lost for good.`
      : `The file ${path} is lost for good.`,
    action: isFolder ? 'Delete the folder' : 'Delete the file',
    async run() {
      await client.deleteFile({ sandbox, path, recursive: isFolder });
      notifyDone(`${nameOf(path)} deleted`);
      await refresh(parentOf(path));
      moved(path, null);
    },
  };
}

const MOST_ASKED = 50;

/** @returns the names that are taken. */
async function existing(
  sandbox: string,
  folder: string,
  files: readonly { name: string }[],
): Promise<string[]> {
  const found = await Promise.all(
    files.slice(0, MOST_ASKED).map(async ({ name }) => {
      try {
        await client.getFileInfo({ sandbox, path: joined(folder, name) });
        return [name];
      } catch (error) {
        if (isSandhavenError(error, 'not_found')) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}

/** A cookie alone opens nothing, so the bytes come by the SDK and go to the disk from memory. */
async function save(sandbox: string, path: string): Promise<void> {
  try {
    const { body } = await client.files.download(sandbox, path);
    saveFile(nameOf(path), await new Response(body).blob());
  } catch (error) {
    notifyFailed(`${nameOf(path)} was not downloaded`, error);
  }
}
