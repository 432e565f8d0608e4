/** Writes the SDK's handle of one sandbox from the catalogue. */
import type { Tool } from '../../src/catalog/base/tool.ts';
import { allTools } from '../../src/catalog/index.ts';
import { describe } from './described.ts';
import { type HandleMethod, handleMethods } from './handles.ts';
import { comment } from './types.ts';

/** By group; what the generated methods do not have is written here. */
const classes: Record<string, { name: string; about: string; besides: string }> = {
  files: {
    name: 'SandboxFiles',
    about: 'The files of one sandbox.',
    besides: `
  /** Creates or replaces a file, once all bytes have arrived. */
  upload(path: string, content: files.Bytes, options?: files.UploadOptions): Promise<files.Upload> {
    return this.#client.files.upload(this.#sandbox, path, content, options);
  }

  /** The timeout ends with the headers; the signal can still end the body. */
  download(path: string, options?: files.DownloadOptions): Promise<files.Download> {
    return this.#client.files.download(this.#sandbox, path, options);
  }

  /** Describes what is below a folder, without following links. */
  details(path: string, options?: files.FileDetailsOptions): Promise<files.FileDetails> {
    return this.#client.files.details(this.#sandbox, path, options);
  }

  /** Changes below a folder as they happen, until it is gone. */
  watch(path?: string, options?: watching.WatchOptions): AsyncGenerator<watching.FileChange, void, undefined> {
    return this.#client.files.watch(this.#sandbox, path, options);
  }

  /** Changes what is given of a file or folder, and follows a final link. */
  setAttributes(path: string, options: files.FileAttributesOptions): Promise<files.ChangedFile> {
    return this.#client.files.setAttributes(this.#sandbox, path, options);
  }
`,
  },
  code: {
    name: 'SandboxCode',
    about: 'Code that runs in one sandbox.',
    besides: `
  /** Interpreters that keep variables: \`const context = await box.code.contexts.create()\`. */
  get contexts(): Contexts {
    return new Contexts(this.#client, this.#sandbox);
  }

  /** Starts one of these; resolves when it waits for code. */
  context(options?: ContextOptions): Promise<CodeContext> {
    return this.contexts.create(options);
  }
`,
  },
  sessions: {
    name: 'SandboxSessions',
    about: 'The sessions of one sandbox.',
    besides: `
  /** Kills the shell with all that it has started, and forgets the logs of its commands. */
  delete(sessionId: string, options?: RequestOptions): Promise<DeletedSession> {
    return this.#client.sessions.delete(this.#sandbox, sessionId, options);
  }
`,
  },
  git: { name: 'SandboxGit', about: 'Git in one sandbox.', besides: '' },
};

/** @param catalogue All tools; a test may pass others. */
export function generateSandboxHandle(catalogue: readonly Tool[] = allTools): string {
  const methods = handleMethods(catalogue.map(describe));
  const groups = Object.entries(classes).filter(([group]) => methods.some((one) => one.group === group));
  const own = methods.filter(({ group }) => group === '');
  return `/// <reference lib="esnext.disposable" preserve="true" />
/** One sandbox, whose calls need no name of it. Generated from the service's catalogue by each set-up. */
import type { PublicPorts, SandboxToken, SandboxTokenOptions } from './access.ts';
import { SandhavenError } from './errors.ts';
import type * as files from './files.ts';
import type { CallOptions } from './call.ts';
import { type CodeContext, type ContextOptions, Contexts } from './contexts.ts';
import type { RequestOptions } from './connection.ts';
import type * as types from './generated.ts';
import { apart, type Deadline, type DeadlineOptions, type HandleOptions, type Sleep, type SleepOptions, type UsageHistory } from './handle-options.ts';
import type { Preview } from './preview.ts';
import { processesOf, type SandboxProcesses } from './processes.ts';
import type { DeletedSession } from './sessions.ts';
import type * as watching from './watching.ts';

/** What a fork has made. */
export interface Forks {
  /** Handles of the sandboxes that started. */
  sandboxes: SandboxHandle[];
  /** Why each of the others did not start. Where none starts, the call itself fails. */
  failed: types.ForkSandboxResult['failed'];
}

/** Made by \`client.create()\` and \`client.sandbox()\`. \`await using\` deletes it at the end of its block. */
export class SandboxHandle {
  /** Its ID; with \`client.sandbox()\`, the name or ID that was given. */
  readonly id: string;
${groups.map(([group, { name }]) => `  readonly ${group}: ${name};\n`).join('')}  readonly processes: SandboxProcesses;
  readonly #client: types.Sandhaven;

  constructor(client: types.Sandhaven, id: string) {
    this.id = id;
    this.#client = client;
${groups.map(([group, { name }]) => `    this.${group} = new ${name}(client, id);\n`).join('')}    this.processes = processesOf(client.processes, id);
  }

  /** A port of it, to send requests to: \`await box.preview(8000).fetch('/')\`. */
  preview(port: number): Preview {
    return this.#client.preview(this.id, port);
  }

  /**
   * Sets or moves the moment at which the service stops or deletes it, or puts it to sleep, whatever runs in it: \`await box.setDeadline({ seconds:
   * 3600, action: 'delete' })\`. 0 removes it.
   */
  setDeadline({ seconds, action, ...options }: DeadlineOptions): Promise<Deadline> {
    const parameters = { sandbox: this.id, seconds, action };
    return this.#client.administration.call('SetSandboxDeadline', parameters, options);
  }

  /** Puts it to sleep, whatever runs in it: it keeps its memory and uses no processor until any call wakes it. */
  pause(options: RequestOptions = {}): Promise<Sleep> {
    return this.#client.administration.call('PauseSandbox', { sandbox: this.id }, options);
  }

  /** Wakes it. */
  resume(options: RequestOptions = {}): Promise<Sleep> {
    return this.#client.administration.call('ResumeSandbox', { sandbox: this.id }, options);
  }

  /** Sets when it falls asleep without activity, and whether a use starts it when it is stopped. */
  setSleep({ afterSeconds, wake, ...options }: SleepOptions): Promise<Sleep> {
    const parameters = { sandbox: this.id, after_seconds: afterSeconds, wake };
    return this.#client.administration.call('SetSandboxSleep', parameters, options);
  }

  /** What it has used in its last hour, a sample each ten seconds. */
  usageHistory(options: RequestOptions = {}): Promise<UsageHistory> {
    return this.#client.administration.call('GetUsageHistory', { sandbox: this.id }, options);
  }

  /** Makes a token that opens the files, programs and previews of this sandbox, and nothing else. */
  createToken(options?: SandboxTokenOptions): Promise<SandboxToken> {
    return this.#client.access.createToken(this.id, options);
  }

  /** Opens exactly these ports to everybody, where the operator allows it; an empty list closes all. */
  setPublicPorts(ports: 'all' | readonly number[], options?: RequestOptions): Promise<PublicPorts> {
    return this.#client.access.setPublicPorts(this.id, ports, options);
  }

  /** Deletes it; one that is gone is no error. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.delete();
    } catch (error) {
      if (!(error instanceof SandhavenError) || error.code !== 'not_found') throw error;
    }
  }

${own.map(method).join('\n')}}
${groups
  .map(([group, { name, about, besides }]) => {
    const inGroup = methods.filter((one) => one.group === group);
    return `
/** ${about} */
export class ${name} {
  readonly #client: types.Sandhaven;
  readonly #sandbox: string;

  constructor(client: types.Sandhaven, sandbox: string) {
    this.#client = client;
    this.#sandbox = sandbox;
  }
${besides}
${inGroup.map(method).join('\n')}}
`;
  })
  .join('')}`;
}

function method({ described, group, name, positional, takesMore }: HandleMethod): string {
  const { typeName, method: flat, tool } = described;
  const parameters = `types.${typeName}Parameters`;
  const given = positional.map((one) => `${camel(one)}: ${parameters}['${one}']`);
  const named = ['sandbox', ...positional].map((one) => `'${one}'`).join(' | ');
  const options = takesMore ? `HandleOptions<${parameters}, ${named}>` : 'CallOptions';
  const fields = [
    ...(takesMore ? ['...parameters'] : []),
    `sandbox: ${group === '' ? 'this.id' : 'this.#sandbox'}`,
    ...positional.map((one) => (one === camel(one) ? one : `${one}: ${camel(one)}`)),
  ];
  const split = takesMore
    ? `    const [parameters, call] = apart<Omit<${parameters}, ${named}>>(options);\n`
    : '';
  // The client's method of the tool has the rest.
  const [about] = tool.description.split(/(?<=\.) /);
  const called = `this.#client.${flat}({ ${fields.join(', ')} }, ${takesMore ? 'call' : 'options'})`;
  const isFork = typeName === 'ForkSandbox';
  const signature = `${name}(${[...given, `options: ${options} = {}`].join(', ')})`;
  return `${comment(about, '  ').join('\n')}
  ${isFork ? `async ${signature}: Promise<Forks>` : `${signature}: Promise<types.${typeName}Result>`} {
${split}${isFork ? handlesOf(called) : `    return ${called};\n`}  }
`;
}

/** Results of sandboxes become handles, as that of `create` does. */
function handlesOf(called: string): string {
  return `    const { sandboxes, failed } = await ${called};
    return { sandboxes: sandboxes.map(({ id }) => this.#client.sandbox(id)), failed };
`;
}

function camel(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
