/** The procedures of files and folders. */
import { SandhavenError } from '../../../model/errors.ts';
import { audited } from '../../daytona/base/call.ts';
import { isMissing } from '../base/errors.ts';
import type { Message } from './connect.ts';
import { absolute, type InsideCall, listDir, ROOT, stat } from './entries.ts';

type Plain = (call: InsideCall, message: Message) => Promise<Message>;

export const filesystem: Record<string, Plain> = {
  Stat: async (call, { path }) => ({ entry: await stat(call, textOf(path)) }),
  ListDir: async (call, { path, depth }) => ({
    entries: await listDir(call, textOf(path), Math.max(1, Number(depth ?? 1))),
  }),
  MakeDir: makeDir,
  Move: move,
  Remove: remove,
};

const FOLDER_MODE = 0o755;

async function makeDir(call: InsideCall, message: Message): Promise<Message> {
  const path = absolute(call, textOf(message['path']));
  const found = await stat(call, path).catch((error: unknown) =>
    isMissing(error) ? null : Promise.reject(error),
  );
  if (found) {
    const isFolder = found['type'] === 'FILE_TYPE_DIRECTORY';
    const [code, what] = isFolder ? ['already_exists', 'directory'] : ['invalid_argument', 'file'];
    throw new SandhavenError(code as 'already_exists', `A ${what} is there already: ${path}`);
  }
  const folder = { path, user: call.user, mode: FOLDER_MODE, privileged: true as const };
  await audited(call, { action: 'Sandbox.CreateFolder', scope: 'sandboxes:write' }, () =>
    call.services.files.createFolder(call.request.caller, call.sandbox, folder),
  );
  return { entry: await stat(call, path) };
}

/** Moves, and replaces a file at the destination, as there. */
async function move(call: InsideCall, message: Message): Promise<Message> {
  const { sandbox } = call;
  const source = absolute(call, textOf(message['source']));
  const destination = absolute(call, textOf(message['destination']));
  const moved = () => call.tool('Sandbox.MoveFile', { sandbox, source, destination, user: ROOT });
  await moved().catch(async (error: unknown) => {
    if (!(error instanceof SandhavenError) || error.code !== 'already_exists') throw error;
    await call.tool('Sandbox.DeleteFile', { sandbox, path: destination, user: ROOT });
    await moved();
  });
  return { entry: await stat(call, destination) };
}

/** Removes, and takes an absent path for removed. */
async function remove(call: InsideCall, message: Message): Promise<Message> {
  const path = absolute(call, textOf(message['path']));
  try {
    await call.tool('Sandbox.DeleteFile', { sandbox: call.sandbox, path, user: ROOT, recursive: true });
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
