/** The smallest image that one can work in: dash and two programs of Debian's, taken from the base image. */
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { put } from './registry/registry.ts';

const PROGRAMS = [
  'usr/bin/dash',
  'usr/bin/env',
  'usr/bin/id',
  'usr/lib64/ld-linux-x86-64.so.2',
  'usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2',
  'usr/lib/x86_64-linux-gnu/libc.so.6',
  'usr/lib/x86_64-linux-gnu/libselinux.so.1',
  'usr/lib/x86_64-linux-gnu/libpcre2-8.so.0',
];

/** Fills the folder of a layer. */
export function shellLayer(folder: string): void {
  const base = join(defaultCacheDir(), 'base', 'current', 'rootfs');
  execFileSync('cp', ['--dereference', '--parents', ...PROGRAMS, folder], { cwd: base });
  for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(folder, name));
  symlinkSync('dash', join(folder, 'usr/bin/sh'));
  put(folder, 'etc/motd', 'hello from the image');
}
