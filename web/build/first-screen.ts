/**
 * Holds the bound on what a first visit loads: the entry, the list of sandboxes, all that they import, and the styles,
 * compressed. The build fails above it.
 */
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';
import { FIRST_ROUTE } from './first-route.ts';

const MOST_BYTES = 400 * 1024;

/** The part of a bundle's file that is read here. */
interface Output {
  type: string;
  fileName: string;
  code?: string;
  source?: string | Uint8Array;
  imports?: string[];
  isEntry?: boolean;
  facadeModuleId?: string | null;
  viteMetadata?: { importedCss: Set<string> };
}

export function firstScreen(): Plugin {
  return {
    name: 'first-screen',
    apply: 'build',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const outputs = bundle as unknown as Record<string, Output>;
      const files = filesOf(outputs);
      const sizes = files.map((file) => [file, compressedBytes(outputs[file])] as const);
      const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
      const kilobytes = (total / 1024).toFixed(1);
      this.info(
        `first screen: ${kilobytes} KiB compressed of ${MOST_BYTES / 1024}, in ${files.length} files`,
      );
      if (total <= MOST_BYTES) return;
      const listed = sizes.toSorted((a, b) => b[1] - a[1]).map(([file, bytes]) => `  ${bytes} ${file}`);
      this.error(
        `The first screen has ${kilobytes} KiB, more than ${MOST_BYTES / 1024}:\n${listed.join('\n')}`,
      );
    },
  };
}

function filesOf(outputs: Record<string, Output>): string[] {
  const isFirst = ({ isEntry, facadeModuleId }: Output) => isEntry || facadeModuleId?.endsWith(FIRST_ROUTE);
  const roots = Object.values(outputs).filter(isFirst);
  if (!roots.some(({ isEntry }) => !isEntry)) throw new Error(`no chunk of its own for ${FIRST_ROUTE}`);
  const files = new Set(roots.map(({ fileName }) => fileName));
  for (const file of files) {
    for (const imported of outputs[file]?.imports ?? []) files.add(imported);
    for (const style of outputs[file]?.viteMetadata?.importedCss ?? []) files.add(style);
  }
  return [...files];
}

function compressedBytes(output: Output | undefined): number {
  return gzipSync(output?.code ?? output?.source ?? '').length;
}
