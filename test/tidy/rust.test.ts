/** The rules that keep the Rust source readable: how many files lie in a folder, and who imports whom. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Crate, circleIn, importGraph, leaves, pathsIn, roomGraph } from './rust-imports.ts';

const native = join(import.meta.dirname, '../../native');
const crates = globSync('*/src', { cwd: native }).toSorted();

const MAX_FILES = 20;

describe('crates', () => {
  it('are found', () => {
    expect(crates).toEqual(['agent/src', 'egress/src', 'filter/src', 'launcher/src', 'unpack/src']);
  });

  it.each(crates)('%s: a folder has at most 20 files', (src) => {
    const files = globSync('**', { cwd: join(native, src), withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
    const counts = Map.groupBy(files, (file) => file.parentPath);
    const crowded = [...counts].filter(([, inside]) => inside.length > MAX_FILES).map(([folder]) => folder);
    expect(crowded).toEqual([]);
  });

  it.each(crates)('%s: no files import each other in a circle', (src) => {
    const graph = importGraph(read(src));
    expect([...graph.values()].flat().length).toBeGreaterThan(graph.size / 2);
    expect(circleIn(graph)).toBeUndefined();
  });

  it.each(crates)('%s: no folders import each other in a circle', (src) => {
    expect(circleIn(roomGraph(importGraph(read(src))))).toBeUndefined();
  });

  it('agent: the protocol and PID 1 know no feature, and nothing but main.rs knows the table of operations', () => {
    const rooms = roomGraph(importGraph(read('agent/src')));
    expect(rooms.get('wire')).toEqual([]);
    expect(rooms.get('init')).toEqual(['wire']);
    const knowing = [...rooms].filter(([, targets]) => targets.includes('dispatch.rs')).map(([room]) => room);
    expect(knowing).toEqual(['main.rs']);
  });

  function read(src: string): Crate {
    const files = globSync('**/*.rs', { cwd: join(native, src) }).toSorted();
    return new Map(files.map((file) => [file, readFileSync(join(native, src, file), 'utf8')]));
  }
});

describe('imports of Rust', () => {
  const isModule = (path: string[]) => ['a', 'a::b', 'a::b::c', 'd', 'd::e'].includes(path.join('::'));
  const paths = (source: string) => pathsIn(source, ['a', 'b'], isModule).map((path) => path.join('::'));

  it.each([
    ['use crate::d::e::Name;', ['d::e::Name']],
    ['use crate::d::{self, e::{First, Second as Other}};', ['d', 'd::e::First', 'd::e::Second']],
    ['pub use super::Name;', ['a::Name']],
    ['use super::super::d;', ['d']],
    ['use self::c::Name;', ['a::b::c::Name']],
    ['use c::*;', ['a::b::c']],
    ['use std::fs::File; use serde::{Deserialize, Serialize};', []],
    ['fn f() { crate::d::g(); }', ['d::g']],
    ['fn f() -> super::Name {}', ['a::Name']],
    ['fn f() { c::g(); std::process::id(); }', ['a::b::c::g']],
    ['use crate::d::{self as x};\nfn f() { x::e::g(); }', ['d', 'd::e::g']],
    ['// use crate::d;\n/* use crate::d; */\nconst A: &str = "use crate::d;";', []],
    ["const A: [char; 3] = ['\"', '\\\\', '\\''];\nuse crate::d;\nconst B: char = '\"';", ['d']],
    ['const A: &[u8] = br#"a " b"#;\nuse crate::d;\nfn f<\'a>(b: &\'a str) {}', ['d']],
    ['#[cfg(test)]\nmod tests {\n    use super::*;\n    use crate::d::e;\n}\n', []],
  ])('%j name %j', (source, expected) => {
    expect(paths(source)).toEqual(expected);
  });

  it('lead to the file of the deepest module on their path', () => {
    const crate: Crate = new Map([
      ['main.rs', 'mod a;\nmod d;\nuse a::run;'],
      ['a/mod.rs', 'pub mod b;\npub fn run() {}'],
      ['a/b.rs', 'use super::run;\nuse crate::d::Name;'],
      ['d.rs', 'pub struct Name;'],
    ]);
    expect([...importGraph(crate)]).toEqual([
      ['main.rs', ['a/mod.rs']],
      ['a/mod.rs', []],
      ['a/b.rs', ['a/mod.rs', 'd.rs']],
      ['d.rs', []],
    ]);
  });

  it('of nested braces are all leaves of the tree', () => {
    const names = leaves('a::{b, c::{self, d as e}, f::*}').map(
      ({ path, name }) => `${path.join('::')} ${name}`,
    );
    expect(names).toEqual(['a::b b', 'a::c c', 'a::c::d e', 'a::f f']);
  });

  it('show the circle that they make', () => {
    const graph = (edges: Record<string, string[]>) => new Map(Object.entries(edges));
    expect(circleIn(graph({ a: ['b', 'c'], b: ['c'], c: [] }))).toBeUndefined();
    expect(circleIn(graph({ a: ['b'], b: ['c'], c: ['d'], d: ['b'] }))).toEqual(['b', 'c', 'd', 'b']);
    const files = graph({ 'a/one.rs': ['b/one.rs'], 'b/two.rs': ['a/two.rs'], 'main.rs': ['a/one.rs'] });
    expect(circleIn(files)).toBeUndefined();
    expect(circleIn(roomGraph(files))).toEqual(['a', 'b', 'a']);
  });
});
