/** Manual pages and completion scripts, of what the program itself prints. */
import { join } from 'node:path';
import { command } from '../../command.ts';
import { type About, commandManual, configurationManual } from './manual.ts';

interface File {
  path: string;
  text: string;
}

const FOLDERS = {
  bash: 'usr/share/bash-completion/completions/sandhaven',
  zsh: 'usr/share/zsh/vendor-completions/_sandhaven',
  fish: 'usr/share/fish/vendor_completions.d/sandhaven.fish',
};

export async function completions(home: string): Promise<File[]> {
  return Promise.all(
    Object.entries(FOLDERS).map(async ([shell, path]) => {
      const text = await print(home, 'completion', shell);
      // zsh finds the function by this line, and calls it by the name of its file.
      return { path, text: shell === 'zsh' ? `#compdef sandhaven\n${text}` : text };
    }),
  );
}

export async function manuals(home: string, about: About): Promise<File[]> {
  const main = await print(home, '--help');
  const helps: [string, string][] = [];
  for (const name of commandsOf(main)) helps.push([name, await print(home, name, '--help')]);
  return [
    { path: 'usr/share/man/man1/sandhaven.1', text: commandManual(main, helps, about) },
    { path: 'usr/share/man/man5/sandhaven-config.5', text: configurationManual(about) },
  ];
}

function commandsOf(help: string): string[] {
  return [...help.matchAll(/^ {2}([a-z][a-z-]*) {2,}\S/gm)].map(([, name = '']) => name);
}

function print(home: string, ...argv: string[]): Promise<string> {
  return command(join(home, 'bin/sandhaven'), argv);
}
