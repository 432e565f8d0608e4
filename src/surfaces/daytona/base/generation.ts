/** Forms of an answer that depend on the age of the client. */
import type { FastifyRequest } from 'fastify';
import type { OutputPiece } from '../../../model/output-text.ts';

/** Stand before a piece of output, and say which stream it is of. */
export const markers: Record<OutputPiece['stream'], string> = {
  stdout: '\u0001\u0001\u0001',
  stderr: '\u0002\u0002\u0002',
};

/** Clients before 0.167 read both streams of a log from one text with marks. */
const FIRST_WITH_STREAMS = 167;

export interface Logs {
  output: string;
  stdout: string;
  stderr: string;
}

/** Returns a log with `output` as this client reads it. */
export function logsFor(request: FastifyRequest, logs: Record<string, unknown>): Logs {
  const { output, stdout, stderr } = logs as Record<keyof Logs, string>;
  if (!readsMarks(request)) return { output, stdout, stderr };
  const marked = [stdout && markers.stdout + stdout, stderr && markers.stderr + stderr];
  return { output: marked.join(''), stdout, stderr };
}

/** Returns true for a client that names no version, too. */
export function readsMarks({ headers }: FastifyRequest): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(String(headers['x-daytona-sdk-version'])) ?? [];
  return Number(major ?? 0) === 0 && Number(minor ?? 0) < FIRST_WITH_STREAMS;
}
