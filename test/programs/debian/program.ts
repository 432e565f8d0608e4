/** Programs of Debian in sandboxes: installed as people do, with what they recommend, and started. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, must, type Service } from '../../support/service.ts';

export interface Program {
  packages: string;
  /** Of bash, in an empty folder. */
  script: string;
  /** A part of what it prints. */
  prints: string;
}

/** Of the longest of all: an office, or a browser, with its fonts. */
const INSTALL_SECONDS = 600;
const START_SECONDS = 90;
const SHOWN_CHARS = 3_000;

export interface Section {
  title: string;
  programs: Program[];
}

/** All of `list.txt`, in its order. */
export function sections(): Section[] {
  const text = readFileSync(join(import.meta.dirname, 'list.txt'), 'utf8');
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = '', ...blocks] = section.trimEnd().split('\n\n');
      return { title, programs: blocks.map(programOfBlock) };
    });
}

function programOfBlock(block: string): Program {
  const [packages = '', ...lines] = block.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const prints = lines.pop()?.replace(/^ +=> /, '') ?? '';
  return { packages, script: lines.join('\n'), prints };
}

/** The entry of this package. */
export function programOf(name: string): Program {
  const programs = sections().flatMap((section) => section.programs);
  const found = programs.find(({ packages }) => packages.split(' ')[0] === name);
  if (!found) throw new Error(`list.txt has no ${name}`);
  return found;
}

/** Fails with the last of what apt or the program has written, unless both do what they should. */
export async function installAndStart(service: Service, sandbox: string, program: Program): Promise<void> {
  const { packages, script, prints } = program;
  const installed = await run(
    service,
    sandbox,
    `apt-get install -y -qq ${packages} </dev/null`,
    INSTALL_SECONDS,
  );
  if (installed.exitCode !== 0)
    throw new Error(`${packages} does not install:\n${installed.output.slice(-SHOWN_CHARS)}`);
  const started = await run(service, sandbox, `cd "$(mktemp -d)"\n${script}`, START_SECONDS);
  if (started.exitCode !== 0 || !started.output.includes(prints))
    throw new Error(
      `${packages} ends with ${started.exitCode}, without "${prints}":\n${started.output.slice(-SHOWN_CHARS)}`,
    );
}

/** As in a shell of one's own; fails when there is no answer. */
async function run(service: Service, sandbox: string, command: string, seconds: number) {
  const parameters = { sandbox, command, timeout_seconds: seconds };
  const { status, body } = await call(service, 'RunCommand', parameters);
  const output = String(status === 200 ? body['output'] : JSON.stringify(body));
  return { exitCode: status === 200 ? Number(body['exit_code']) : null, output };
}

/** In any image of Debian's: what asks questions at installation must not. */
export async function makeSandbox(service: Service, parameters: Record<string, unknown>): Promise<string> {
  const size = { cpu: 2, memory_gb: 4, disk_gb: 20 };
  const env_vars = { DEBIAN_FRONTEND: 'noninteractive' };
  return String((await must(service, 'CreateSandbox', { ...size, env_vars, ...parameters }))['id']);
}
