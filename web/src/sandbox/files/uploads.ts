/**
 * Uploads under way. They go on when another screen is shown. XMLHttpRequest sends them, since fetch reports no progress
 * of what it sends.
 */
import { type Problem, SandhavenError } from '@sandhaven/sdk';
import { useSyncExternalStore } from 'react';
import { ownerHeaders } from '../../service/client.ts';

export interface Upload {
  id: number;
  sandbox: string;
  path: string;
  size: number;
  sent: number;
  state: 'waiting' | 'sending' | 'done' | 'failed';
  error: unknown;
  cancel(): void;
}

const AT_ONCE = 3;

let uploads: Upload[] = [];
let nextId = 1;
const listeners = new Set<() => void>();
const waiting: (() => Promise<void>)[] = [];
let sending = 0;

export function useUploads(sandbox: string): Upload[] {
  const all = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => uploads,
  );
  return all.filter((upload) => upload.sandbox === sandbox);
}

/** Resolves when it is there, or has failed; its row says which. */
export function upload(sandbox: string, path: string, file: Blob): Promise<void> {
  const request = new XMLHttpRequest();
  const id = nextId++;
  const row: Upload = {
    ...{ id, sandbox, path, size: file.size, sent: 0, state: 'waiting', error: null },
    cancel: () => {
      request.abort();
      dismiss(id);
    },
  };
  change([...uploads, row]);
  return new Promise((resolve) => {
    waiting.push(async () => {
      if (uploads.some((one) => one.id === id)) await send(request, row, file);
      resolve();
    });
    startNext();
  });
}

export function dismiss(id: number): void {
  change(uploads.filter((one) => one.id !== id));
}

function startNext(): void {
  while (sending < AT_ONCE) {
    const next = waiting.shift();
    if (!next) return;
    sending++;
    void next().finally(() => {
      sending--;
      startNext();
    });
  }
}

function send(request: XMLHttpRequest, { id, sandbox, path }: Upload, file: Blob): Promise<void> {
  update(id, { state: 'sending' });
  request.open('PUT', `/v1/sandboxes/${encodeURIComponent(sandbox)}/files?${new URLSearchParams({ path })}`);
  for (const [name, value] of Object.entries(ownerHeaders)) request.setRequestHeader(name, value);
  request.setRequestHeader('content-type', 'application/octet-stream');
  request.upload.addEventListener('progress', ({ loaded }) => update(id, { sent: loaded }));
  return new Promise((resolve) => {
    request.addEventListener('loadend', () => {
      const isDone = request.status >= 200 && request.status < 300;
      update(
        id,
        isDone ? { state: 'done', sent: file.size } : { state: 'failed', error: failureOf(request) },
      );
      resolve();
    });
    request.send(file);
  });
}

function failureOf({ status, responseText }: XMLHttpRequest): unknown {
  try {
    return new SandhavenError(JSON.parse(responseText) as Problem);
  } catch {
    const detail = status === 0 ? 'The connection broke.' : `The service answered with status ${status}.`;
    return new SandhavenError({
      code: 'unavailable',
      status,
      detail,
      hint: 'Upload it again.',
      retryable: true,
    });
  }
}

function update(id: number, part: Partial<Upload>): void {
  change(uploads.map((one) => (one.id === id ? { ...one, ...part } : one)));
}

function change(next: Upload[]): void {
  uploads = next;
  for (const listener of listeners) listener();
}
