/** The imports between the files of one Rust crate, as paths in its source and `use` declarations name them. */
import { dirname } from 'node:path';

/** Each file of a crate, by its path below `src`, with its text. */
export type Crate = Map<string, string>;

/** For each file the files whose items it names. Tests inside a file do not count. */
export function importGraph(crate: Crate): Map<string, string[]> {
  const modules = new Map([...crate.keys()].map((file) => [modulePath(file).join('::'), file]));
  const fileOf = (path: string[]): string | undefined => {
    for (let length = path.length; length >= 0; length -= 1) {
      const file = modules.get(path.slice(0, length).join('::'));
      if (file !== undefined) return file;
    }
    return undefined;
  };
  const importsOf = (file: string, source: string) => {
    const found = pathsIn(source, modulePath(file), (path) => modules.has(path.join('::')));
    return [...new Set(found.map(fileOf))].filter((target) => target !== undefined && target !== file);
  };
  return new Map([...crate].map(([file, source]) => [file, importsOf(file, source) as string[]]));
}

/** `['a', 'b']` of `b` in the folder `a`, be it a file or a folder with a mod.rs; empty for the root of the crate. */
function modulePath(file: string): string[] {
  const name = file.replace(/\.rs$/, '').replace(/(?:^|\/)mod$/, '');
  return name === 'main' || name === 'lib' ? [] : name.split('/');
}

/** The paths into the crate that a module's source names, from the crate's root on. */
export function pathsIn(source: string, own: string[], isModule: (path: string[]) => boolean): string[][] {
  const code = codeOf(source);
  const names = new Map<string, string[]>();
  const absolute = ([first = '', ...rest]: string[]): string[] | undefined => {
    if (first === 'crate') return rest;
    if (first === 'self') return absolute(['crate', ...own, ...rest]);
    if (first === 'super') return superOf([first, ...rest], own);
    const imported = names.get(first);
    if (imported) return [...imported, ...rest];
    return isModule([...own, first]) ? [...own, first, ...rest] : undefined;
  };
  const found: (string[] | undefined)[] = [];
  for (const [, tree = ''] of code.matchAll(USE)) {
    for (const { path, name } of leaves(tree)) {
      const target = absolute(path);
      found.push(target);
      if (target && isModule(target)) names.set(name, target);
    }
  }
  for (const [path] of code.replace(USE, '').matchAll(/\b[a-z_]\w*(?:::\w+)+/g)) {
    found.push(absolute(path.split('::')));
  }
  return found.filter((path) => path !== undefined);
}

const USE = /\buse\s+([^;]+);/g;

function superOf(path: string[], own: string[]): string[] {
  const ups = path.findIndex((segment) => segment !== 'super');
  return [...own.slice(0, own.length - ups), ...path.slice(ups)];
}

/** Without comments, texts, and the module of tests that may end a file. */
function codeOf(source: string): string {
  const silent =
    /\/\/.*|\/\*[\s\S]*?\*\/|\bb?r(#*)"[\s\S]*?"\1|"(?:\\[\s\S]|[^"\\])*"|'(?:\\.[^']*|[^'\\])'/g;
  return source.replace(silent, ' ').replace(/#\[cfg\(test\)\]\s*mod \w+ \{[\s\S]*?\n\}/g, '');
}

interface Leaf {
  path: string[];
  /** The name that the file knows it by. */
  name: string;
}

/** `a::{b, c::{self, d as e}}` names `a::b`, `a::c` and `a::c::d`. */
export function leaves(tree: string): Leaf[] {
  const open = tree.indexOf('{');
  if (open < 0) {
    const [path = '', alias] = tree.trim().split(/\s+as\s+/);
    const segments = path.replace(/::(?:self|\*)$/, '').split('::');
    return [{ path: segments, name: alias ?? segments.at(-1) ?? '' }];
  }
  const prefix = tree.slice(0, open).trim();
  const inner = tree.slice(open + 1, tree.lastIndexOf('}'));
  return partsOf(inner).flatMap((part) => leaves(prefix + part));
}

/** Cut at the commas outside of braces. */
function partsOf(list: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of list) {
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts.push((parts.pop() ?? '') + character);
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** The same graph between the folders and files that lie in `src` itself. */
export function roomGraph(graph: Map<string, string[]>): Map<string, string[]> {
  const rooms = new Map<string, string[]>();
  for (const [file, targets] of graph) {
    const others = targets.map(roomOf).filter((room) => room !== roomOf(file));
    rooms.set(roomOf(file), [...new Set([...(rooms.get(roomOf(file)) ?? []), ...others])]);
  }
  return rooms;
}

function roomOf(file: string): string {
  return dirname(file) === '.' ? file : (file.split('/')[0] ?? '');
}

/** One circle, its first member repeated at its end; undefined where there is none. */
export function circleIn(graph: Map<string, string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (node: string, way: string[]): string[] | undefined => {
    if (way.includes(node)) return [...way.slice(way.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const target of graph.get(node) ?? []) {
      const circle = visit(target, [...way, node]);
      if (circle) return circle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of graph.keys()) {
    const circle = visit(node, []);
    if (circle) return circle;
  }
  return undefined;
}
