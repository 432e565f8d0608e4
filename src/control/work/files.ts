/** Files of a sandbox; its agent does all work on them inside. */
import type { Readable } from 'node:stream';
import type { User } from '../../model/user.ts';
import type {
  AgentLink,
  ContentFound,
  ContentQuery,
  FileEntry,
  FileInfo,
  FileSlice,
  FileUpload,
  Listing,
  Replaced,
  ReplaceRequest,
} from '../ports/index.ts';
import type { Uses } from './use.ts';

type Reference = string | undefined;

export class FileService {
  readonly #uses: Uses;
  readonly #agent: AgentLink;

  constructor(uses: Uses, agent: AgentLink) {
    this.#uses = uses;
    this.#agent = agent;
  }

  list(
    caller: User,
    reference: Reference,
    query: { path: string; pattern?: string; maxItems: number; offset: number },
    signal?: AbortSignal,
  ): Promise<Listing<FileEntry> & { path: string }> {
    return this.#uses.run(caller, reference, ({ id }) => this.#agent.list(id, query, signal));
  }

  find(
    caller: User,
    reference: Reference,
    query: { path: string; pattern: string; maxItems: number; offset: number },
    signal?: AbortSignal,
  ): Promise<Listing<string>> {
    return this.#uses.run(caller, reference, ({ id }) => this.#agent.find(id, query, signal));
  }

  info(caller: User, reference: Reference, path: string): Promise<FileInfo> {
    return this.#uses.run(caller, reference, ({ id }) => this.#agent.stat(id, path));
  }

  read(
    caller: User,
    reference: Reference,
    query: { path: string; startLine?: number; endLine?: number },
    signal?: AbortSignal,
  ): Promise<FileSlice> {
    return this.#uses.run(caller, reference, ({ id }) => this.#agent.read(id, query, signal));
  }

  /** Counts as a use of the sandbox until the stream has ended. */
  readStream(
    caller: User,
    reference: Reference,
    query: { path: string; start?: number; end?: number },
    signal?: AbortSignal,
  ): Promise<{ size: number; stream: Readable }> {
    return new Promise((resolve, reject) => {
      this.#uses
        .run(caller, reference, async ({ id }) => {
          const opened = await this.#agent.readStream(id, query, signal);
          resolve(opened);
          await new Promise((closed) => opened.stream.once('close', closed));
        })
        .catch(reject);
    });
  }

  write(
    caller: User,
    reference: Reference,
    query: FileUpload,
    signal?: AbortSignal,
  ): Promise<{ bytesWritten: number; created: boolean }> {
    return this.#uses.run(caller, reference, ({ id }) => this.#agent.write(id, query, signal));
  }

  createFolder(
    caller: User,
    reference: Reference,
    query: { path: string; mode: number },
  ): Promise<{ created: boolean }> {
    return this.#uses.run(caller, reference, ({ id }) => this.#agent.createFolder(id, query));
  }

  move(caller: User, reference: Reference, query: { source: string; destination: string }): Promise<void> {
    return this.#uses.run(caller, reference, ({ id }) => this.#agent.move(id, query));
  }

  remove(
    caller: User,
    reference: Reference,
    query: { path: string; recursive: boolean },
    signal?: AbortSignal,
  ): Promise<void> {
    return this.#uses.run(caller, reference, ({ id }) => this.#agent.remove(id, query, signal));
  }

  search(
    caller: User,
    reference: Reference,
    query: ContentQuery,
    signal?: AbortSignal,
  ): Promise<ContentFound> {
    return this.#uses.run(caller, reference, ({ id }) => this.#agent.searchContent(id, query, signal));
  }

  replace(
    caller: User,
    reference: Reference,
    request: ReplaceRequest,
    signal?: AbortSignal,
  ): Promise<Replaced> {
    return this.#uses.run(caller, reference, ({ id }) => this.#agent.replaceInFiles(id, request, signal));
  }
}
