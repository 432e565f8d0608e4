/** Transfers the bytes of files as streams, unchanged and of any size; shows and changes details of files. */
import { administer } from './administration.ts';
import { failureOf } from './call.ts';
import type { Connection, RequestOptions } from './connection.ts';
import { type FileChange, type WatchOptions, watchFiles } from './watching.ts';

export type Bytes = string | Uint8Array<ArrayBuffer> | ArrayBuffer | Blob | ReadableStream<Uint8Array>;

interface FileOptions extends RequestOptions {
  /** Linux user, from its home; by default the sandbox's. */
  user?: string;
}

export interface UploadOptions extends FileOptions {
  /** Unix permissions, such as '755'; by default those of the replaced file. */
  mode?: string;
  /** Make missing parent folders; true by default. */
  createParents?: boolean;
  /** Survives a power cut once the call returns; otherwise within two seconds. */
  durable?: boolean;
}

export interface DownloadOptions extends FileOptions {
  /** First byte, from 0. */
  start?: number;
  /** Last byte, inclusive. */
  end?: number;
}

export interface FileDetailsOptions extends FileOptions {
  /** Levels of folders below the path, 1 by default; 0 for the path itself. */
  depth?: number;
  /** Most to return; 1,000 by default. */
  maxItems?: number;
  /** How many to skip. */
  offset?: number;
}

export interface FileAttributesOptions extends FileOptions {
  /** Unix permissions, such as '640'. */
  mode?: string;
  /** Name or number of a user of the sandbox. */
  owner?: string;
  /** Name or number of a group of the sandbox. */
  group?: string;
  /** Takes the place of all that the file has. */
  metadata?: Record<string, string>;
}

export interface FileEntry {
  /** Below the path that was asked for; empty for that itself. */
  path: string;
  type: 'file' | 'dir' | 'symlink' | 'other';
  size: number;
  /** Four octal digits. */
  mode: string;
  owner: string;
  group: string;
  uid: number;
  gid: number;
  modified_time: string;
  /** Of a link. */
  target?: string;
  metadata: Record<string, string>;
}

export interface FileDetails {
  /** Sorted by path. */
  entries: FileEntry[];
  total_count: number;
  /** Where the next page begins, which is early where there is much metadata; null at the end. */
  next_offset: number | null;
}

export interface ChangedFile {
  path: string;
  changed: true;
}

export interface Upload {
  path: string;
  bytes_written: number;
  created: boolean;
}

export interface Download {
  /** null where the sandbox does not report it, as for files of /proc. */
  size: number | null;
  /** Stream of the bytes. They can be read once: here, or by `bytes` or `text`. */
  body: ReadableStream<Uint8Array<ArrayBuffer>>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  text(): Promise<string>;
}

export class Files {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Creates or replaces a file, once all bytes have arrived. @param sandbox Name or ID. */
  async upload(sandbox: string, path: string, content: Bytes, options: UploadOptions = {}): Promise<Upload> {
    const { mode, createParents, durable } = options;
    const query = queryOf(path, options);
    if (mode !== undefined) query.set('mode', mode);
    if (createParents !== undefined) query.set('create_parents', String(createParents));
    if (durable !== undefined) query.set('durable', String(durable));
    const body = await sendable(content);
    const headers = { 'content-type': 'application/octet-stream' };
    // `duplex` is required for a stream, and not yet in every type library.
    const init = { method: 'PUT', headers, body, duplex: 'half' } as RequestInit;
    const attempts = this.#connection.begin(options);
    try {
      const response = await this.#connection.request(routeOf(sandbox, query), init, attempts);
      if (!response.ok) throw await failureOf(response);
      return (await response.json()) as Upload;
    } catch (error) {
      throw this.#connection.explain(error, attempts);
    } finally {
      attempts.close();
    }
  }

  /** The timeout ends with the headers; the signal can still end the body. @param sandbox Name or ID. */
  async download(sandbox: string, path: string, options: DownloadOptions = {}): Promise<Download> {
    const { start = 0, end } = options;
    const ranged = options.start !== undefined || end !== undefined;
    const headers: Record<string, string> = ranged ? { range: `bytes=${start}-${end ?? ''}` } : {};
    const attempts = this.#connection.begin(options);
    try {
      const route = routeOf(sandbox, queryOf(path, options));
      const response = await this.#connection.request(route, { headers }, attempts);
      if (!response.ok) throw await failureOf(response);
      attempts.stopClock();
      return toDownload(response, {
        explain: (error) => this.#connection.explain(error, attempts),
        close: () => attempts.close(),
      });
    } catch (error) {
      attempts.close();
      throw this.#connection.explain(error, attempts);
    }
  }

  /** Changes below a folder as they happen, until it is gone. @param sandbox Name or ID. */
  watch(
    sandbox: string,
    path = '.',
    options: WatchOptions = {},
  ): AsyncGenerator<FileChange, void, undefined> {
    return watchFiles(this.#connection, sandbox, path, options);
  }

  /** Describes what is below a folder, without following links. @param sandbox Name or ID. */
  async details(sandbox: string, path: string, options: FileDetailsOptions = {}): Promise<FileDetails> {
    const { user, depth, maxItems, offset, ...rest } = options;
    const parameters = { sandbox, path, user, depth, max_items: maxItems, offset };
    return await administer(this.#connection, 'GetFileDetails', parameters, rest);
  }

  /** Changes what is given of a file or folder, and follows a final link. @param sandbox Name or ID. */
  async setAttributes(sandbox: string, path: string, options: FileAttributesOptions): Promise<ChangedFile> {
    const { user, mode, owner, group, metadata, ...rest } = options;
    const parameters = { sandbox, path, user, mode, owner, group, metadata };
    return await administer(this.#connection, 'SetFileAttributes', parameters, rest);
  }
}

function queryOf(path: string, { user }: FileOptions): URLSearchParams {
  return new URLSearchParams(user === undefined ? { path } : { path, user });
}

function routeOf(sandbox: string, query: URLSearchParams): string {
  return `/v1/sandboxes/${encodeURIComponent(sandbox)}/files?${query}`;
}

interface Ending {
  explain(error: unknown): unknown;
  close(): void;
}

function toDownload(response: Response, { explain, close }: Ending): Download {
  const length = response.headers.get('content-length');
  const whole = <Value>(value: Promise<Value>) =>
    value
      .catch((error: unknown) => {
        throw explain(error);
      })
      .finally(close);
  return {
    size: length === null ? null : Number(length),
    // Only a response to HEAD has none.
    body: response.body ?? new Blob([]).stream(),
    bytes: async () => new Uint8Array(await whole(response.arrayBuffer())),
    text: () => whole(response.text()),
  };
}

/** Browsers send a stream over HTTP/2 alone, so there it is collected first. */
export async function sendable(content: Bytes): Promise<NonNullable<RequestInit['body']>> {
  if (!(content instanceof ReadableStream)) return content;
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return process?.versions?.node === undefined ? new Response(content).blob() : content;
}
