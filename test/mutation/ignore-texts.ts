/** A plugin of Stryker: leaves texts for people as they are. A text has a space; names, codes and states have none. */

/** As much of Babel's paths as is used here. */
interface Path {
  node: { type: string; value?: unknown; quasis?: { value: { raw: string } }[] };
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'texts', value: { shouldIgnore } }];

function shouldIgnore({ node }: Path): string | undefined {
  const parts =
    node.type === 'StringLiteral'
      ? [String(node.value)]
      : node.type === 'TemplateLiteral'
        ? (node.quasis ?? []).map(({ value }) => value.raw)
        : [];
  return parts.some((part) => /\w \w|\w[.:,] |^ \w|\w $/.test(part)) ? 'a text for people' : undefined;
}
