/** Paths of files in a sandbox, and facts from their names. */

export const ROOT = '/workspace';

export interface FilesSearch {
  /** Folder that the tree begins at; the workspace by default. */
  path?: string;
  /** File that is open. */
  file?: string;
  /** Line to show. */
  line?: number;
}

export function readFilesSearch({ path, file, line }: Record<string, unknown>): FilesSearch {
  const number = Number(line);
  return {
    ...(path === undefined ? {} : { path: String(path) }),
    ...(file === undefined ? {} : { file: String(file) }),
    ...(Number.isSafeInteger(number) && number > 0 ? { line: number } : {}),
  };
}

export function joined(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`;
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Paths of the workspace come relative to it. */
export function absolute(path: string): string {
  return path.startsWith('/') ? path : joined(ROOT, path);
}

/** @returns the fault of a name for a file or folder, or null. */
export function nameFault(name: string): string | null {
  if (name.trim() === '') return 'Give a name.';
  if (name.includes('/')) return 'A name cannot have a slash.';
  if (name === '.' || name === '..') return 'This name is reserved for a folder.';
  return new TextEncoder().encode(name).length > 255 ? 'A name has at most 255 bytes.' : null;
}

export type Kind = 'image' | 'pdf' | 'table' | 'markdown' | 'notebook' | 'text';

const images: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  svg: 'image/svg+xml',
};

export function kindOf(path: string): Kind {
  const ending = endingOf(path);
  if (Object.hasOwn(images, ending)) return 'image';
  if (ending === 'pdf') return 'pdf';
  if (ending === 'csv' || ending === 'tsv') return 'table';
  if (ending === 'ipynb') return 'notebook';
  return ending === 'md' || ending === 'markdown' ? 'markdown' : 'text';
}

/** Bytes that no editor shows, by their name. */
export function isBinary(path: string): boolean {
  const kind = kindOf(path);
  return kind === 'pdf' || (kind === 'image' && endingOf(path) !== 'svg');
}

/** Media type of an image, by its name. */
export function imageTypeOf(path: string): string {
  const ending = endingOf(path);
  return (Object.hasOwn(images, ending) ? images[ending] : undefined) ?? 'application/octet-stream';
}

export function endingOf(path: string): string {
  const name = nameOf(path);
  const dot = name.lastIndexOf('.');
  return dot < 1 ? '' : name.slice(dot + 1).toLowerCase();
}

/** @returns null for bytes that are not text. */
export function textOf(bytes: Uint8Array, { cut }: { cut: boolean }): string | null {
  if (bytes.includes(0)) return null;
  try {
    // The last character of a part may be cut in two.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut });
  } catch {
    return null;
  }
}
