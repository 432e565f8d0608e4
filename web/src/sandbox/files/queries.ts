/** Questions about the files of a sandbox. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { client } from '../../service/client.ts';

const PAGE_ITEMS = 200;
/** Most bytes of a file that the page edits. */
export const EDITED_BYTES = 2 * 1024 ** 2;
/** Bytes shown of a longer one. */
const SHOWN_BYTES = 256 * 1024;
/** Most bytes of an image that is shown. */
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
  /** The bytes are the first of more. */
  cut: boolean;
  /** Time of its last change, to find out that another program has changed it since. */
  modified: string;
}

export const fileQuery = (sandbox: string, path: string, isImage: boolean) =>
  queryOptions({
    queryKey: ['inside', sandbox, 'file', path],
    queryFn: async ({ signal }): Promise<OpenFile> => {
      const { size, modified_time: modified } = await client.getFileInfo({ sandbox, path }, { signal });
      const cut = size > (isImage ? IMAGE_BYTES : EDITED_BYTES);
      const range = cut ? { start: 0, end: SHOWN_BYTES - 1 } : {};
      const opened = await client.files.download(sandbox, path, { ...range, signal });
      return { bytes: await opened.bytes(), size, cut, modified };
    },
    // An answer in the middle of an edit would be in its way; only its own button reads the file again.
    staleTime: 'static',
    gcTime: 0,
  });
