/** Files and folders of a sandbox in memory, as much as the page can tell apart. */
import { Readable } from 'node:stream';
import type { FileService } from '../../../src/control/work/files.ts';
import { notFound, SandhavenError } from '../../../src/model/errors.ts';

/** The public face of a class: a fake cannot have its private fields. */
type Face<T> = Pick<T, keyof T>;

/** By absolute path; null is a folder. */
export type Tree = Map<string, Buffer | null>;

export function fakeTree(tree: Tree): Face<FileService> {
  const contentOf = (path: string): Buffer => {
    const content = tree.get(absolute(path));
    if (content) return content;
    throw notFound('file', `There is no file '${path}'.`);
  };
  return {
    async list(_caller, _reference, { path, maxItems, offset }) {
      const folder = absolute(path);
      if (!tree.has(folder)) throw notFound('file', `There is no folder '${path}'.`);
      const items = [...tree]
        .filter(([name]) => parentOf(name) === folder && name !== folder)
        .map(([name, content]) => ({
          name: name.slice(name.lastIndexOf('/') + 1),
          type: content === null ? ('dir' as const) : ('file' as const),
          size: content?.length ?? 4096,
          link: false,
        }))
        .toSorted((a, b) => a.name.localeCompare(b.name));
      return { path: folder, items: items.slice(offset, offset + maxItems), totalCount: items.length };
    },
    details: async () => ({ items: [], totalCount: 0, nextOffset: null }),
    setAttributes: async () => {},
    watch: async (_caller, _reference, _request, sink) => sink.begun(),
    find: async () => ({ items: [...tree.keys()], totalCount: tree.size }),
    info: async (_caller, _reference, { path }) => ({
      ...{ path, type: 'file', size: contentOf(path).length, mode: 0o644, owner: 'root', group: 'root' },
      modifiedMs: 0,
    }),
    async read(_caller, _reference, { path }) {
      const content = contentOf(path);
      return { content, size: content.length, totalLines: 1, startLine: 1, endLine: 1 };
    },
    async readStream(_caller, _reference, { path, start = 0, end }) {
      const content = contentOf(path);
      const part = content.subarray(start, end === undefined ? undefined : end + 1);
      return { size: content.length, stream: Readable.from(part.length > 0 ? [part] : []) };
    },
    async write(_caller, _reference, { path, content }) {
      const bytes = Buffer.isBuffer(content) ? content : Buffer.concat(await content.toArray());
      const created = !tree.has(absolute(path));
      tree.set(absolute(path), bytes);
      return { bytesWritten: bytes.length, created };
    },
    async createFolder(_caller, _reference, { path }) {
      tree.set(absolute(path), null);
      return { created: true };
    },
    async move(_caller, _reference, { source, destination }) {
      if (tree.has(absolute(destination))) {
        throw new SandhavenError('already_exists', `'${destination}' exists already.`);
      }
      for (const name of within(tree, absolute(source))) {
        tree.set(absolute(destination) + name.slice(absolute(source).length), tree.get(name) ?? null);
        tree.delete(name);
      }
    },
    async remove(_caller, _reference, { path }) {
      for (const name of within(tree, absolute(path))) tree.delete(name);
    },
    search: async (_caller, _reference, { query }) => found(tree, query),
    replace: async () => ({ results: [], filesModified: 0, literal: false }),
  };
}

function found(tree: Tree, query: string) {
  const files = [...tree].flatMap(([path, content]) => {
    const lines = content?.toString().split('\n') ?? [];
    const matches = lines.flatMap((text, index) =>
      text.includes(query) ? [{ line: index + 1, text, before: [], after: [] }] : [],
    );
    const row = { path: path.replace('/workspace/', ''), matches, matchCount: matches.length, capped: false };
    return matches.length === 0 ? [] : [row];
  });
  return { files, totalCount: files.length, literal: false };
}

function within(tree: Tree, path: string): string[] {
  return [...tree.keys()].filter((name) => name === path || name.startsWith(`${path}/`));
}

function absolute(path: string): string {
  const whole = path.startsWith('/') ? path : `/workspace/${path}`;
  return whole.length > 1 ? whole.replace(/\/+$/, '') : whole;
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}
