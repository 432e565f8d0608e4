/**
 * Has the browser fetch the list of sandboxes beside the entry. The entry would ask for it only once it runs, a round trip
 * later, and it is where nearly every visit begins.
 */
import type { HtmlTagDescriptor, Plugin } from 'vite';

/** Module that the first route loads beside the entry. */
export const FIRST_ROUTE = 'src/sandboxes/sandboxes-page.tsx';

export function firstRoute(): Plugin {
  return {
    name: 'first-route',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const chunks = Object.values(bundle).flatMap((output) => (output.type === 'chunk' ? [output] : []));
        const route = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(FIRST_ROUTE));
        if (!route) throw new Error(`no chunk of its own for ${FIRST_ROUTE}`);
        const scripts = [route.fileName, ...route.imports];
        const styles = [...(route.viteMetadata?.importedCss ?? [])];
        return [
          ...scripts.map((file) => link(file, { rel: 'modulepreload', crossorigin: true })),
          ...styles.map((file) => link(file, { rel: 'preload', as: 'style' })),
        ].filter(({ attrs }) => !html.includes(String(attrs?.['href'])));
      },
    },
  };
}

function link(file: string, attrs: Record<string, string | boolean>): HtmlTagDescriptor {
  return { tag: 'link', attrs: { ...attrs, href: `/${file}` }, injectTo: 'head' };
}
