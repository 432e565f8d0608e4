/** Manual pages in roff: sandhaven(1) of the texts of --help, sandhaven-config(5) of the flags of `up`. */
import { allFlags } from '../../../src/app/options/all-flags.ts';
import { environmentName, type Flag } from '../../../src/app/options/flag.ts';

export interface About {
  version: string;
  /** Seconds since 1970. */
  epoch: number;
}

export function commandManual(main: string, commands: [name: string, help: string][], about: About): string {
  const usage = /^Usage: (.*)$/m.exec(main)?.[1] ?? '';
  const rest = main.slice(main.indexOf('Everywhere:'));
  return page([
    title('SANDHAVEN', 1, about),
    ...section('NAME'),
    'sandhaven \\- sandboxes and data access for language\\-model agents',
    ...section('SYNOPSIS'),
    `\\fB${escaped(usage)}\\fR`,
    ...section('DESCRIPTION'),
    'One process,',
    '.BR "sandhaven up" ,',
    'makes isolated Linux machines on this host and serves them over HTTP, MCP, the command line, previews and SSH.',
    'The other commands use that service, or one elsewhere after',
    '.BR "sandhaven login" .',
    ...section('COMMANDS'),
    ...commands.flatMap(([name, help]) => [
      `.SS "sandhaven ${escaped(name)}"`,
      ...literal(withoutCommon(help)),
    ]),
    ...section('OPTIONS OF EVERY COMMAND'),
    ...literal(rest),
    ...section('FILES'),
    ...entry('/etc/sandhaven/config.yaml', 'The configuration of the service, sandhaven\\-config(5).'),
    ...entry('/etc/sandhaven/environment', 'Secrets of the service that come by the environment; mode 0600.'),
    ...entry('/var/lib/sandhaven', 'All that the service keeps; for root alone.'),
    ...entry('/var/cache/sandhaven', 'The base image of sandboxes, and what can be made anew.'),
    ...entry('/run/sandhaven\\-key/api\\-key', 'The first key, for members of the group sandhaven.'),
    ...section('SEE ALSO'),
    '.BR sandhaven\\-config (5),',
    '.BR systemctl (1),',
    '.BR journalctl (1)',
  ]);
}

export function configurationManual(about: About): string {
  const flags: Flag<string, unknown>[] = Object.values(allFlags);
  const options = (group: 'kubernetes' | undefined) =>
    flags
      .filter((flag) => flag.group === group)
      .flatMap(({ name, default: usual, help }) =>
        entry(escaped(name), sentence(help, usual === '' ? '' : `The default is ${usual}.`, name)),
      );
  return page([
    title('SANDHAVEN-CONFIG', 5, about),
    ...section('NAME'),
    'sandhaven\\-config \\- configuration of the Sandhaven service',
    ...section('SYNOPSIS'),
    '.I /etc/sandhaven/config.yaml',
    ...section('DESCRIPTION'),
    'The file is YAML of at most 256 KiB, with a key for each option. A list stands for the commas of a flag. A key that is no',
    'option, a key that stands twice and a value that the option does not take are errors, which name the line; the service',
    'does not start then.',
    '.B sandhaven config check',
    'checks the file, and',
    '.B systemctl restart sandhaven',
    'applies it; sandboxes go on meanwhile.',
    '.PP',
    'A flag of',
    '.B sandhaven up',
    'goes before a variable of the environment, and that before the file. Secrets have no key.',
    ...section('OPTIONS'),
    ...options(undefined),
    ...section('OPTIONS FOR KUBERNETES'),
    ...options('kubernetes'),
    ...section('SEE ALSO'),
    '.BR sandhaven (1)',
  ]);
}

function title(name: string, part: number, { version, epoch }: About): string {
  const day = new Date(epoch * 1000).toISOString().slice(0, 10);
  return `.TH ${name} ${part} ${day} "Sandhaven ${version}"`;
}

function section(name: string): string[] {
  return [`.SH ${name.includes(' ') ? `"${name}"` : name}`];
}

function entry(name: string, text: string): string[] {
  return ['.TP', `.B ${name}`, text];
}

function sentence(help: string, usual: string, name: string): string {
  const first = `${help.charAt(0).toUpperCase()}${help.slice(1)}.`;
  return escaped(
    [first, usual, `Variable: ${environmentName(name)}.`].filter((part) => part !== '').join(' '),
  );
}

/** Text whose lines stay as they are. */
function literal(text: string): string[] {
  return ['.nf', ...text.trimEnd().split('\n').map(escaped), '.fi'];
}

/** Every command ends with what holds for all of them. */
function withoutCommon(help: string): string {
  const end = help.indexOf('\nEverywhere:');
  return end === -1 ? help : help.slice(0, end);
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
    .replace(/^\./, '\\&.');
}

function page(rows: string[]): string {
  return `${rows.join('\n')}\n`;
}
