/**
 * A plugin of Stryker: leaves texts for people as they are. A sentence has a space and a mark of punctuation; a phrase
 * has a space, as no name, code or state has.
 */

/** As much of Babel's paths as is used here. */
interface Path {
  node: { type: string; value?: unknown; quasis?: { value: { raw: string } }[] };
}

const ignorer = (name: string, pattern: RegExp) => ({
  kind: 'Ignore',
  name,
  value: { shouldIgnore: ({ node }: Path) => (pattern.test(textOf(node)) ? 'a text for people' : undefined) },
});

export const strykerPlugins = [
  ignorer('sentences', /^(?=.* )(?=.*[.,:;?"…])/s),
  ignorer('phrases', /\S \S|\w $|^ \w/),
];

/** With `…` for what a template takes in. */
function textOf({ type, value, quasis = [] }: Path['node']): string {
  if (type === 'StringLiteral') return String(value);
  return type === 'TemplateLiteral' ? quasis.map((part) => part.value.raw).join('…') : '';
}
