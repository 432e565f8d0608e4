/** Runs Helm and kubectl for the tests of the chart, with folders of their own. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubernetesFolder } from '../../../setup/cluster/folders.ts';
import { helmProgram } from '../../../setup/go/helm-version.ts';

export const chart = join(import.meta.dirname, '../../../deploy/helm/sandhaven');

export type Values = Record<string, unknown>;

export interface Tools {
  /** Returns what Helm prints; throws with what it says. */
  helm(args: string[], values?: Values): string;
  kubectl(args: string[], input?: string): string;
  remove(): void;
}

/** @param kubeconfig null for commands that need no cluster. */
export function openTools(kubeconfig: string | null): Tools {
  const home = mkdtempSync(join(tmpdir(), 'sandhaven-helm-'));
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    KUBECONFIG: kubeconfig ?? join(home, 'none'),
    NO_PROXY: '*',
  };
  const run = (program: string, args: string[], input?: string) => {
    const options = { encoding: 'utf8', env, stdio: 'pipe', maxBuffer: 2 ** 24 } as const;
    return execFileSync(program, args, input === undefined ? options : { ...options, input });
  };
  let files = 0;
  return {
    helm(args, values) {
      if (!values) return run(helmProgram, args);
      files += 1;
      const file = join(home, `values-${files}.json`);
      writeFileSync(file, JSON.stringify(values));
      return run(helmProgram, [...args, '--values', file]);
    },
    kubectl: (args, input) => run(join(kubernetesFolder, 'kubectl'), args, input),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** The values that every installation must give. */
export function required(images: { service: string; agent: string; base: string }): Values {
  return { images, store: { url: 'postgres://sandhaven@db.example/sandhaven' } };
}
