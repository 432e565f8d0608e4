/** The calls of one sandbox as methods of an object, for the generators of clients: where each stands, and what it takes by position. */
import { toolsetOf } from '../../src/catalog/toolsets.ts';
import { type Described, lowerFirst } from './described.ts';

export interface HandleMethod {
  described: Described;
  /** '' for the sandbox itself. */
  group: string;
  /** In camel case. */
  name: string;
  /** Required parameters, in the order of the catalogue: arguments by position. */
  positional: string[];
  /** true where there are parameters besides. */
  takesMore: boolean;
}

/** Toolsets with an object of their own; the others are methods of the sandbox itself. */
const groups = ['files', 'sessions', 'git'];

/** Where the rule gives no good name: that of the group without its noun. */
const names: Record<string, string> = {
  GetSandbox: 'info',
  ListPorts: 'ports',
  GetPortPreviewUrl: 'previewUrl',
  RunCommand: 'run',
  RunCode: 'code.run',
  RunInContext: 'code.runInContext',
  GetFileInfo: 'files.info',
  SearchContent: 'files.search',
  ReplaceInFiles: 'files.replace',
  RunSessionCommand: 'sessions.run',
  GetSessionCommandLogs: 'sessions.logs',
  SendSessionInput: 'sessions.send',
};

export function handleMethods(described: readonly Described[]): HandleMethod[] {
  return described.flatMap((one) => {
    const { sandbox, ...parameters } = one.input.properties ?? {};
    if (sandbox === undefined) return [];
    const positional = (one.input.required ?? []).filter((name) => name !== 'sandbox');
    const takesMore = Object.keys(parameters).length > positional.length;
    return [{ described: one, ...placeOf(one), positional, takesMore }];
  });
}

function placeOf({ tool, typeName }: Described): Pick<HandleMethod, 'group' | 'name'> {
  const toolset = toolsetOf(tool);
  const group = groups.includes(toolset) ? toolset : '';
  const [name = '', before = group] = (names[typeName] ?? '').split('.').reverse();
  if (name !== '') return { group: before, name };
  return { group, name: lowerFirst(typeName.replace(/^Git|Sandbox|Files?$|Sessions?$/, '')) };
}
