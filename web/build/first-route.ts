/**
 * Orders what the browser fetches for a first screen: styles before scripts, so that something is seen while they come, and
 * the list of sandboxes beside the entry, which would ask for it only once it runs. Nearly every visit begins there.
 */
import type { HtmlTagDescriptor, Plugin } from 'vite';

/** Module that the first route loads beside the entry. */
export const FIRST_ROUTE = 'src/sandboxes/sandboxes-page.tsx';
/** Runs before all others, and waits for none. */
export const EARLY = 'src/early.ts';

/** Those of the entry, which are there already. */
const SCRIPTS = /<(?:script type="module"|link rel="modulepreload")/g;

export function firstRoute(): Plugin {
  return {
    name: 'first-route',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const chunks = Object.values(bundle).flatMap((output) => (output.type === 'chunk' ? [output] : []));
        const chunkOf = (module: string) => {
          const found = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(module));
          if (!found) throw new Error(`no chunk of its own for ${module}`);
          return found;
        };
        const route = chunkOf(FIRST_ROUTE);
        const early = chunkOf(EARLY);
        if (early.imports.length > 0) throw new Error(`${EARLY} would wait for ${early.imports.join(', ')}`);
        const scripts = [route.fileName, ...route.imports];
        const styles = chunks
          .filter(({ fileName }) => scripts.includes(fileName))
          .flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])]);
        const tags = [
          ...scripts.map((file) =>
            link(file, { rel: 'modulepreload', fetchpriority: 'low', crossorigin: true }),
          ),
          ...styles.map((file) => link(file, { rel: 'preload', as: 'style' })),
        ].filter(({ attrs }) => !html.includes(String(attrs?.['href'])));
        const first = `<script type="module" async crossorigin src="/${early.fileName}"></script>`;
        const ordered = html.replace(SCRIPTS, '$& fetchpriority="low"');
        return { html: ordered.replace('<script', `${first}\n    <script`), tags };
      },
    },
  };
}

function link(file: string, attrs: Record<string, string | boolean>): HtmlTagDescriptor {
  return { tag: 'link', attrs: { ...attrs, href: `/${file}` }, injectTo: 'head' };
}
