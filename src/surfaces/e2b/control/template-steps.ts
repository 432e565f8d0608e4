/** Steps of a template in the clients' form, as instructions of a build, and the files that they copy, as its context. */
import type { Uploads } from '../../../control/builds/uploads.ts';
import type { Dockerfile, DockerfileInstruction } from '../../../control/ports/index.ts';
import { invalidArgument } from '../../../model/errors.ts';
import type { User } from '../../../model/user.ts';
import { USUAL_USER } from './create.ts';

export interface TemplateSteps {
  /** Image or snapshot that the template begins with. */
  from: string;
  /** Linux user of what it begins with; null: it has none yet, and gets the one that programs of E2B's users expect. */
  user: string | null;
  steps: readonly Step[];
  startCmd: string | null;
}

export interface Step {
  type: string;
  args: string[];
  filesHash?: string;
}

/** A line is the number of a step, from 1; 0 is what comes before the first. */
export function dockerfileOf({ from, user, steps, startCmd }: TemplateSteps): Dockerfile {
  const home = [
    line(0, 'USER', USUAL_USER),
    line(0, 'RUN', JSON.stringify(['true'])),
    line(0, 'WORKDIR', HOME),
  ];
  let usual = user ?? USUAL_USER;
  const instructions = steps.flatMap((step, index) => {
    const made = instructionsOf(step, index + 1, usual);
    if (step.type === 'USER') usual = step.args[0] ?? usual;
    return made;
  });
  const start = startCmd === null ? [] : [line(steps.length, 'ENTRYPOINT', JSON.stringify(shell(startCmd)))];
  return {
    escapeCharacter: '\\',
    instructions: [line(0, 'FROM', quoted(from)), ...(user === null ? home : []), ...instructions, ...start],
  };
}

const HOME = `/home/${USUAL_USER}`;

const shell = (command: string) => ['/bin/bash', '-l', '-c', command];

function instructionsOf({ type, args, filesHash }: Step, at: number, usual: string): DockerfileInstruction[] {
  const [first = '', second = '', third = '', fourth = ''] = args;
  switch (type) {
    case 'RUN': {
      const run = line(at, 'RUN', JSON.stringify(shell(first)));
      return second === '' ? [run] : [line(at, 'USER', quoted(second)), run, line(at, 'USER', quoted(usual))];
    }
    case 'COPY': {
      if (filesHash === undefined) throw invalidArgument('steps', `Step ${at} names no files.`);
      const flags = [
        { name: 'chown', value: quoted(third || usual) },
        ...(fourth === '' ? [] : [{ name: 'chmod', value: fourth }]),
      ];
      const target = /[*?[]/.test(first) && !second.endsWith('/') ? `${second}/` : second;
      return [{ ...line(at, 'COPY', `${quoted(`${filesHash}/${first}`)} ${quoted(target)}`), flags }];
    }
    case 'ENV': {
      const pairs = args.flatMap((name, index) =>
        index % 2 === 0 ? [`${name}=${quoted(args[index + 1] ?? '')}`] : [],
      );
      return [line(at, 'ENV', pairs.join(' '))];
    }
    case 'WORKDIR':
    case 'USER':
      return [line(at, type, quoted(first))];
    default:
      throw invalidArgument('steps', `Step ${at} has the type '${type.slice(0, 40)}', which is none.`);
  }
}

function line(at: number, keyword: string, text: string): DockerfileInstruction {
  return { line: at, keyword, flags: [], text, heredocs: [], raw: text };
}

/** Returns one word, in which nothing is replaced. */
function quoted(text: string): string {
  return /^[\w./:@*-]+$/.test(text) ? text : `"${text.replace(/[\\"$]/g, '\\$&')}"`;
}

/** Joins the archives of all steps to one, each below a folder of its name. */
export function contextOf(
  uploads: Pick<Uploads, 'joined'>,
  caller: User,
  steps: readonly Step[],
): AsyncGenerator<Buffer> {
  const names = steps.flatMap(({ filesHash }) => filesHash ?? []);
  return uploads.joined(caller, names, (name) => name);
}
