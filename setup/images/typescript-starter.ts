/** Compiles the program of the base image that makes JavaScript of TypeScript, images/base/typescript. */
import { join } from 'node:path';
import { command } from '../command.ts';
import type { Processor } from '../processors/processor.ts';

const home = join(import.meta.dirname, '../..');

/** @returns the path of the program, static, for such a processor. */
export async function typescriptStarter({ kernel, rust }: Processor): Promise<string> {
  const target = join(home, 'native/target/typescript');
  await command(
    join(home, 'setup/processors/cargo.sh'),
    [
      ...['build', '--release', '--locked', '--quiet', '--target-dir', target],
      ...['--manifest-path', join(home, 'images/base/typescript/Cargo.toml')],
    ],
    { env: { PROCESSOR: kernel } },
  );
  return join(target, rust, 'release/sandhaven-typescript');
}
