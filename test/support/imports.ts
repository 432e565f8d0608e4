/** The imports of a source file, read from its text: its own statements, and `import()` of a literal. */
export interface Import {
  target: string;
  typeOnly: boolean;
}

export function importsOf(source: string): Import[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
  const statement = /(?:^|;)\s*(?:import|export)\s+(?:([^;'"]*?)\s*from\s*)?['"]([^'"]+)['"]/gm;
  const statements = [...code.matchAll(statement)].map(([, clause = '', target = '']) => ({
    target,
    typeOnly: isTypeOnly(clause),
  }));
  const calls = [...code.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)].map(([, target = '']) => ({
    target,
    typeOnly: false,
  }));
  return [...statements, ...calls];
}

/** `type …`, or braces in which every name is a type. */
function isTypeOnly(clause: string): boolean {
  if (/^type\s/.test(clause)) return true;
  const names = /^\{([\s\S]*)\}$/
    .exec(clause)?.[1]
    ?.split(',')
    .filter((name) => name.trim() !== '');
  return names?.every((name) => /^\s*type\s/.test(name)) ?? false;
}

/** The first circle on the way through the graph, its first file again at its end; empty when there is none. */
export function circle(edges: Map<string, string[]>): string[] {
  const done = new Set<string>();
  const walk = (file: string, above: string[]): string[] => {
    const begin = above.indexOf(file);
    if (begin >= 0) return [...above.slice(begin), file];
    if (done.has(file)) return [];
    done.add(file);
    for (const next of edges.get(file) ?? []) {
      const found = walk(next, [...above, file]);
      if (found.length > 0) return found;
    }
    return [];
  };
  for (const file of edges.keys()) {
    const found = walk(file, []);
    if (found.length > 0) return found;
  }
  return [];
}
