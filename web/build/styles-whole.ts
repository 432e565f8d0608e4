/**
 * Holds that each component of the library has its styles. A component names its classes, each of which the library's
 * own whole stylesheet defines; the build fails for one that no stylesheet of the page has.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Plugin } from 'vite';

const CLASSES = /\bm_[0-9a-f]{6,8}\b/g;

export function stylesWhole(): Plugin {
  return {
    name: 'styles-whole',
    apply: 'build',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const [used, styled] = [new Set<string>(), new Set<string>()];
      for (const output of Object.values(bundle)) {
        if (output.type === 'chunk') add(used, output.code);
        else if (output.fileName.endsWith('.css')) add(styled, String(output.source));
      }
      const missing = [...definedClasses()].filter((name) => used.has(name) && !styled.has(name));
      if (missing.length === 0) return;
      this.error(`No stylesheet has ${missing.join(', ')}: import the component's in src/components.css.`);
    },
  };
}

function definedClasses(): Set<string> {
  const path = createRequire(import.meta.url).resolve('@mantine/core/styles.css');
  const defined = new Set<string>();
  add(defined, readFileSync(path, 'utf8'));
  return defined;
}

function add(names: Set<string>, text: string): void {
  for (const [name] of text.matchAll(CLASSES)) names.add(name);
}
