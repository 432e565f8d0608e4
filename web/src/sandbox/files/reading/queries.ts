/** Queries for the files of a sandbox. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { administration } from '../../../service/administration.ts';
import { client } from '../../../service/client.ts';
import { isBinary } from './paths.ts';

const PAGE_ITEMS = 200;
/** Most bytes of a file that the page edits. */
export const EDITED_BYTES = 2 * 1024 ** 2;
/** Bytes shown of a longer one. */
const SHOWN_BYTES = 256 * 1024;
/** Most bytes of an image that is shown in this page. */
const IMAGE_BYTES = 32 * 1024 ** 2;

export const folderQuery = (sandbox: string, path: string) =>
  infiniteQueryOptions({
    queryKey: ['inside', sandbox, 'folder', path],
    queryFn: ({ pageParam, signal }) =>
      client.listFiles({ sandbox, path, max_items: PAGE_ITEMS, offset: pageParam }, { signal }),
    initialPageParam: 0,
    getNextPageParam: (page) => (page.has_more ? page.offset + page.files.length : undefined),
  });

export interface OpenFile {
  bytes: Uint8Array<ArrayBuffer>;
  size: number;
  /** True when the file has more bytes. A file that no editor shows has none here. */
  cut: boolean;
  /** Time of its last change, to find out that another program has changed it since. */
  modified: string;
}

export const fileQuery = (sandbox: string, path: string) =>
  queryOptions({
    queryKey: ['inside', sandbox, 'file', path],
    queryFn: async ({ signal }): Promise<OpenFile> => {
      const { size, modified_time: modified } = await client.getFileInfo({ sandbox, path }, { signal });
      if (isBinary(path)) return { bytes: new Uint8Array(), size, cut: size > 0, modified };
      const cut = size > EDITED_BYTES;
      const range = cut ? { start: 0, end: SHOWN_BYTES - 1 } : {};
      const opened = await client.files.download(sandbox, path, { ...range, signal });
      return { bytes: await opened.bytes(), size, cut, modified };
    },
    // A new answer would disturb an edit, so only the button reads the file again.
    staleTime: 'static',
    gcTime: 0,
  });

/** @param modified Another time of change is another file to see. */
export const filePreviewQuery = (sandbox: string, path: string, modified: string) =>
  queryOptions({
    queryKey: ['inside', sandbox, 'preview', path, modified],
    queryFn: () => administration.filePreview({ sandbox, path }),
    retry: false,
    // An address that changed would load the frame anew.
    staleTime: 'static',
    gcTime: 0,
  });

/** @returns null for an image that is too large. */
export const pictureQuery = (sandbox: string, path: string) =>
  queryOptions({
    queryKey: ['inside', sandbox, 'picture', path],
    queryFn: async ({ signal }) => {
      const opened = await client.files.download(sandbox, path, { start: 0, end: IMAGE_BYTES, signal });
      const bytes = await opened.bytes();
      return bytes.length > IMAGE_BYTES ? null : bytes;
    },
    staleTime: 'static',
    gcTime: 0,
  });
