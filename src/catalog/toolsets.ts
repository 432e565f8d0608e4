/**
 * Groups of tools, for clients that want fewer of them in front of their model. A toolset selects the tools that one
 * client lists and calls; it is no permission, since the key opens all tools elsewhere.
 */
import { invalidArgument } from '../model/errors.ts';
import { nearest } from '../model/nearest.ts';
import type { Tool } from './base/tool.ts';
import { tools } from './index.ts';

/** Tools of each group by their names without the toolkit; in the order of the groups' list. */
const members = {
  sandboxes: `CreateSandbox GetSandbox ListSandboxes StartSandbox StopSandbox ArchiveSandbox DeleteSandbox
    ConfigureSandboxAuto ResizeSandbox SetSandboxLabels`,
  snapshots: 'CreateSnapshot GetSnapshot ListSnapshots',
  account: 'ListRegions WhoAmI',
  access: 'CreateSshAccess ListPorts GetPortPreviewUrl',
  files: `ListFiles FindFiles GetFileInfo ReadFile WriteFile CreateFolder MoveFile DeleteFile SearchContent
    ReplaceInFiles`,
  execution: 'RunCode RunCommand',
  sessions: 'CreateSession ListSessions RunSessionCommand GetSessionCommandLogs SendSessionInput',
  git: `GitClone GitStatus GitAdd GitCommit GitBranches GitCheckout GitCreateBranch GitDeleteBranch GitLog GitPull
    GitPush`,
  documentdb: `DiscoverDatabases DiscoverCollections GetCollectionSchema FindDocuments AggregateDocuments
    CountDocuments`,
} as const;

export type Toolset = keyof typeof members;

const toolsetByTool = new Map<string, Toolset>(
  Object.entries(members).flatMap(([toolset, names]) =>
    names.split(/\s+/).map((name) => [name, toolset as Toolset] as const),
  ),
);

/** Every group that has a tool in the catalogue. */
export const toolsets: readonly Toolset[] = (Object.keys(members) as Toolset[]).filter((toolset) =>
  tools.some((tool) => toolsetOf(tool) === toolset),
);

/** Returns the names of all tools of a group, missing ones included. */
export function namesIn(toolset: Toolset): string[] {
  return members[toolset].split(/\s+/);
}

export function toolsetOf({ name }: Pick<Tool, 'name'>): Toolset {
  const toolset = toolsetByTool.get(name.slice(name.indexOf('.') + 1));
  if (!toolset) throw new Error(`${name} is in no toolset`);
  return toolset;
}

/**
 * Returns the tools of `files,git`, in the order of the catalogue; all of them for `all` or without a text.
 * Throws `invalid_argument` naming the unknown toolset.
 * @param parameter Source of the text, in its author's terms.
 */
export function selectTools(text: string | undefined, parameter: string): readonly Tool[] {
  if (text === undefined) return tools;
  const names = text
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  const known = `The toolsets are ${toolsets.join(', ')}; all means every one.`;
  if (names.length === 0) throw invalidArgument(parameter, `${parameter} names no toolset.`, known);
  const unknown = names.find((name) => name !== 'all' && !(toolsets as readonly string[]).includes(name));
  if (unknown !== undefined) {
    const [close] = nearest(unknown, toolsets);
    const shown = JSON.stringify(unknown.slice(0, 60));
    throw invalidArgument(
      parameter,
      `There is no toolset ${shown}.`,
      close ? `Did you mean ${close}? ${known}` : known,
    );
  }
  return names.includes('all') ? tools : tools.filter((tool) => names.includes(toolsetOf(tool)));
}

/** Versions of the toolkits that the tools implement, where their contracts have one. */
export const toolkitVersions = { DocumentDb: '0.4.0' } as const;

/** `DocumentDb toolkit 0.4.0` */
export const toolkitLines: readonly string[] = Object.entries(toolkitVersions).map(
  ([toolkit, version]) => `${toolkit} toolkit ${version}`,
);
