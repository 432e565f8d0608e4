/**
 * Groups of tools, for clients that want fewer of them in front of their model. A toolset selects the tools that one
 * client lists and calls; it is no permission, since the key opens all tools elsewhere.
 */
import { invalidArgument } from '../model/errors.ts';
import { nearest } from '../model/nearest.ts';
import type { Tool } from './base/tool.ts';
import { allTools, furtherToolsets, tools, toolsByToolset } from './index.ts';

const bySet = { ...toolsByToolset, ...furtherToolsets };

export type Toolset = keyof typeof bySet;

/** In the order of the list. */
export const toolsets = Object.keys(bySet) as Toolset[];

const further = Object.keys(furtherToolsets).join(' and ');

const toolsetByTool = new Map<string, Toolset>(
  toolsets.flatMap((toolset) => bySet[toolset].map(({ name }) => [name, toolset] as const)),
);

export function toolsetOf({ name }: Pick<Tool, 'name'>): Toolset {
  const toolset = toolsetByTool.get(name);
  if (!toolset) throw new Error(`${name} is in no toolset`);
  return toolset;
}

/**
 * Returns the tools of `files,git`, in the order of the catalogue; for `all` or without a text all but those of further
 * toolsets, which `all,contexts` has too.
 * Throws `invalid_argument` naming the unknown toolset.
 * @param parameter Source of the text, in its author's terms.
 */
export function selectTools(text: string | undefined, parameter: string): readonly Tool[] {
  if (text === undefined) return tools;
  const names = text
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  const known = `The toolsets are ${toolsets.join(', ')}; all means every one but ${further}.`;
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
  const ofAll = names.includes('all');
  if (ofAll && !names.some((name) => name in furtherToolsets)) return tools;
  return allTools.filter((tool) => names.includes(toolsetOf(tool)) || (ofAll && tools.includes(tool)));
}

/** Versions of the toolkits that the tools implement, where their contracts have one. */
export const toolkitVersions = { DocumentDb: '0.4.0' } as const;

/** `DocumentDb toolkit 0.4.0` */
export const toolkitLines: readonly string[] = Object.entries(toolkitVersions).map(
  ([toolkit, version]) => `${toolkit} toolkit ${version}`,
);
