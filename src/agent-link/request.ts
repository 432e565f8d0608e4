/**
 * Requests as they go to an agent. Each names the earliest version of the protocol that has its operation and all of its
 * fields: an agent of a machine that was started before an upgrade refuses later ones, and serves the others.
 *
 * Invariant: no other file holds a version. `native/agent/src/dispatch.rs` has the agent's table of operations.
 */
import { encodeJson, frameTypes } from './frames.ts';

export interface AgentRequest {
  op: 'hello' | keyof typeof operationVersions;
  [field: string]: unknown;
}

export const protocolVersions = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/** The version that knows the operation first. `hello` agrees on one, and carriers have versions of their own. */
export const operationVersions = {
  watch: 1,
  exec: 1,
  start_background: 1,
  run_code: 1,
  list: 1,
  find: 1,
  stat: 1,
  read: 1,
  read_stream: 1,
  write: 1,
  mkdir: 1,
  move: 1,
  remove: 1,
  entries: 7,
  set_attributes: 7,
  watch_files: 8,
  process: 2,
  sftp: 2,
  session_create: 2,
  session_list: 2,
  session_run: 2,
  session_logs: 2,
  session_follow: 3,
  session_input: 2,
  session_delete: 7,
  search: 2,
  replace: 2,
  tcp: 2,
  listen: 2,
  accept: 2,
  ports: 2,
  terminal_open: 4,
  terminal_list: 4,
  terminal_close: 4,
  process_start: 7,
  process_list: 7,
  process_view: 7,
  process_input: 7,
  process_signal: 7,
  process_resize: 7,
  process_end: 7,
  context_create: 9,
  context_list: 9,
  context_run: 9,
  context_interrupt: 9,
  context_delete: 9,
  trust: 5,
  pack: 1,
  unpack: 1,
} as const;

/** Fields that came after their operation. */
export const fieldVersions = {
  privileged: 9,
  user: 7,
  metadata: 7,
  streams: 7,
  as_is: 7,
  live: 4,
  whole: 6,
  raw: 6,
  durable: 3,
  new_beneath: 3,
  literal: 3,
  output: 3,
  dry_run: 3,
  exclude: 3,
} as const;

export function encodeRequest(request: AgentRequest): Buffer {
  return encodeJson(
    frameTypes.request,
    request.op === 'hello' ? request : { v: versionOf(request), ...request },
  );
}

function versionOf({ op, ...fields }: AgentRequest): number {
  const ofFields = Object.entries(fieldVersions).map(([name, version]) =>
    fields[name] === undefined ? 1 : version,
  );
  return Math.max(op === 'hello' ? 1 : operationVersions[op], ...ofFields);
}
