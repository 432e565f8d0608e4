/** Runs the command as an operator does. */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { bin } from '../support/service.ts';

export interface Ended {
  status: number | null;
  stdout: Buffer;
  stderr: string;
}

export interface Run {
  ended: Promise<Ended>;
  /** Resolves with the first line on standard error. */
  begun: Promise<void>;
  kill(): void;
}

export function begin(args: string[], input?: Readable | Buffer): Run {
  const child = spawn(bin, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const stdout: Buffer[] = [];
  let stderr = '';
  const begun = Promise.withResolvers<void>();
  child.stdin.on('error', () => {});
  if (input === undefined || Buffer.isBuffer(input)) child.stdin.end(input);
  else input.pipe(child.stdin);
  child.stdout.on('data', (piece: Buffer) => stdout.push(piece));
  child.stderr.on('data', (piece: Buffer) => {
    stderr += piece;
    begun.resolve();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      begun.resolve();
      resolve({ status, stdout: Buffer.concat(stdout), stderr });
    });
  });
  return { ended, begun: begun.promise, kill: () => void child.kill('SIGKILL') };
}

export function sandhaven(args: string[], input?: Readable | Buffer): Promise<Ended> {
  return begin(args, input).ended;
}
