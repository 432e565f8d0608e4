/** `sandhaven config`: checks a configuration file, and shows what the service would run with. */
import { usageError } from '../../surfaces/cli/flags.ts';
import type { CliIo } from '../../surfaces/cli/io.ts';
import { table } from '../../surfaces/cli/output.ts';
import { allFlags } from '../options/all-flags.ts';
import { CONFIG_FLAG, readSources, type Source } from '../options/sources.ts';
import { parseUpOptions } from '../options/up-options.ts';

const help = `Usage: sandhaven config check [FILE]
       sandhaven config show [--json] [flags of up]

Options of \`sandhaven up\` come from a flag, else from the environment, else from the configuration file that --config or
SANDHAVEN_CONFIG names, else they are at their defaults. The file is YAML with a key for each flag, of its name:

  data-dir: /srv/sandhaven
  listen: 0.0.0.0:7420
  git-allow: [10.0.0.0/8, 192.168.0.0/16]

  check   checks the file and this environment as \`up\` does, and starts nothing
  show    prints each option with its value and its place; takes the flags of \`up\`, and checks all of them
`;

/** @returns the exit status */
export async function configCommand(argv: string[], io: CliIo): Promise<number> {
  const [verb, ...others] = argv;
  if (argv.length === 0 || argv.includes('--help') || argv.includes('-h')) {
    io.stdout.write(help);
    return argv.length === 0 ? 2 : 0;
  }
  if (verb === 'check') return check(others, io);
  if (verb === 'show') return show(others, io);
  throw usageError(`There is no command 'config ${verb}'.`, 'The commands are check and show.');
}

function check(files: string[], { env, stdout }: CliIo): number {
  const [given, another] = files;
  if (another !== undefined) throw usageError('More than one file was given.');
  if (given?.startsWith('-')) throw usageError(`There is no flag ${given}.`);
  const argv = given === undefined ? [] : [`--${CONFIG_FLAG}`, given];
  const { file, given: options } = readSources(argv, env);
  if (file === null) throw usageError('No file was given.', 'Name one, or set SANDHAVEN_CONFIG.');
  parseUpOptions(argv, env);
  const count = [...options.values()].filter(({ source }) => source.kind === 'file').length;
  stdout.write(`${file} is valid; ${count} ${count === 1 ? 'option comes' : 'options come'} from it.\n`);
  return 0;
}

function show(argv: string[], { env, stdout }: CliIo): number {
  const flags = argv.filter((one) => one !== '--json');
  const { file, given } = readSources(flags, env);
  parseUpOptions(flags, env);
  const options = Object.values(allFlags).map(({ name, default: usual }) => {
    const found = given.get(name);
    return { name, value: found?.text ?? usual, source: found?.source ?? ({ kind: 'default' } as const) };
  });
  if (argv.includes('--json')) stdout.write(`${JSON.stringify({ file, options })}\n`);
  else {
    const rows = options.map(({ name, value, source }) => ({ option: name, value, from: placeOf(source) }));
    stdout.write(`${table(rows)}\n`);
  }
  return 0;
}

function placeOf(source: Source | { kind: 'default' }): string {
  if (source.kind === 'file') return `${source.file}:${source.line}`;
  return source.kind === 'default' ? 'default' : source.name;
}
