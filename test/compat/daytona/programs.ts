/** The programs of each generation of Daytona's clients, and what came of their steps. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Service } from '../../support/service.ts';
import { pythonOf } from '../clients/installed.ts';

export interface Program {
  file: string;
  args: string[];
}

/** 0.140 is what crewai pins, 0.143 what Mastra and LangChain do, 0.161 is nearest to OpenAI's, 0.192 is ComputeSDK's. */
export const programs: Record<string, Program> = {
  'Node 0.143': inNode('0.143'),
  'Node 0.161': inNode('0.161'),
  'Node 0.192': inNode('0.192'),
  'Node 0.218': inNode('0.218'),
  'Python 0.140': inPython('daytona-0.140'),
  'Python 0.226': inPython('daytona-0.226'),
};

/** Where a client finds the service: the variables that people set. */
export function clientEnvironment({ url, apiKey }: Pick<Service, 'url' | 'apiKey'>): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, XDG_CACHE_HOME } = process.env;
  return {
    PATH,
    HOME,
    TMPDIR,
    XDG_CACHE_HOME,
    DAYTONA_API_URL: `${url}/daytona/api`,
    DAYTONA_API_KEY: apiKey,
  };
}

const NOT_RUN = 'not run';

/** Runs a program to its end. Returns for each step that it has planned `ok`, or why not. */
export async function stepsOf(program: Program, env: NodeJS.ProcessEnv): Promise<Record<string, string>> {
  const child = spawn(program.file, program.args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const steps: Record<string, string> = {};
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) continue;
    const { planned = [], step, ok, detail } = JSON.parse(line) as Line;
    for (const name of planned) steps[name] = NOT_RUN;
    if (step !== undefined) steps[step] = ok ? 'ok' : detail;
  }
  if (Object.keys(steps).length === 0) throw new Error(`the program planned nothing:\n${said}`);
  return steps;
}

interface Line {
  planned?: string[];
  step?: string;
  ok: boolean;
  detail: string;
}

function inNode(version: string): Program {
  return { file: process.execPath, args: [join(import.meta.dirname, 'node/program.mjs'), version] };
}

function inPython(name: string): Program {
  return { file: pythonOf(name), args: ['-B', join(import.meta.dirname, 'python/program.py')] };
}
