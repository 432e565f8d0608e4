/** Actions inside a sandbox that no tool has: on its terminals, its sessions, and details of its files. */
import { z } from 'zod';
import { timestamp } from '../catalog/base/sandbox-view.ts';
import { withoutUndefined } from '../catalog/base/tool.ts';
import { sessionId } from '../catalog/execution/parameters.ts';
import { octal } from '../catalog/files/listing.ts';
import { offsetParameters } from '../catalog/parameters/pagination.ts';
import { asUser, sandbox, terminalId } from '../catalog/parameters/sandbox.ts';
import {
  fileMetadata,
  fileMode,
  integerWithDefault,
  path,
  textWithoutNul,
} from '../catalog/parameters/scalars.ts';
import { limits } from '../model/limits.ts';
import { defineAction } from './action.ts';

export const endTerminal = defineAction({
  name: 'EndTerminal',
  title: 'End a terminal of a sandbox',
  description:
    'Hangs up on what runs in a terminal of one of your sandboxes, kills what stays after two seconds, and ends the ' +
    'connections of its viewers. Answers when the terminal is gone.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'terminals end',
  argument: 'sandbox',
  input: z.strictObject({ sandbox, terminal: terminalId().describe('Id of the terminal.') }),
  output: z.looseObject({ terminal: z.string(), ended: z.literal(true) }),
  async handler({ sandbox: reference, terminal }, { services, caller, signal }) {
    await services.terminals.end(caller, reference, terminal, signal);
    return { terminal, ended: true as const };
  },
});

export const listTerminals = defineAction({
  name: 'ListTerminals',
  title: 'List the terminals of a sandbox',
  description:
    'Terminals of one of your sandboxes, oldest first, each with its size, its viewers and the program in the ' +
    'foreground. Open one with a WebSocket, or with `sandhaven attach`.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'terminals list',
  argument: 'sandbox',
  input: z.strictObject({ sandbox }),
  output: z.looseObject({
    terminals: z.array(
      z.looseObject({
        terminal: z.string(),
        created_at: z.string(),
        cols: z.int(),
        rows: z.int(),
        viewers: z.int(),
        program: z.string().describe('Name of the program in the foreground; empty when unknown.'),
        busy: z.boolean().describe('A program other than the shell is in the foreground.'),
      }),
    ),
  }),
  async handler({ sandbox: reference }, { services, caller }) {
    const terminals = await services.terminals.list(caller, reference);
    return {
      terminals: terminals.map(({ terminalId, createdAtMs, size, viewers, program, busy }) => ({
        terminal: terminalId,
        created_at: new Date(createdAtMs).toISOString(),
        cols: size.columns,
        rows: size.rows,
        ...{ viewers, program, busy },
      })),
    };
  },
  rows: ({ terminals }) =>
    terminals.map(({ terminal, cols, rows, viewers, program, created_at }) => ({
      ...{ terminal, size: `${cols}x${rows}`, viewers, program, created: created_at },
    })),
});

export const deleteSession = defineAction({
  name: 'DeleteSession',
  title: 'Delete a session',
  description:
    'Kills the shell of a session with all that it has started, and forgets the logs of its commands. Answers when all has ' +
    'ended; the session_id is free again.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'sessions rm',
  argument: 'sandbox',
  input: z.strictObject({ sandbox, session_id: sessionId }),
  output: z.looseObject({ session_id: z.string(), deleted: z.literal(true) }),
  async handler({ sandbox: reference, session_id }, { services, caller, signal }) {
    await services.sessions.delete(caller, reference, session_id, signal);
    return { session_id, deleted: true as const };
  },
});

const { depth, maxItems } = limits.fileDetails;

export const getFileDetails = defineAction({
  name: 'GetFileDetails',
  title: 'Get all that is known of files',
  description:
    'Describes what is below a folder of a sandbox, sorted by path: type, size, mode, owner and group by name and number, ' +
    'time, target of a link, and metadata. Depth 0 describes the path itself. Links are not followed. A page with much ' +
    'metadata ends early: go on at next_offset.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'files details',
  argument: 'sandbox',
  input: z.strictObject({
    sandbox,
    path: path().default('.').describe('Folder or file (default: /workspace, or the home of user).'),
    user: asUser,
    depth: integerWithDefault('Levels of folders below the path', depth),
    max_items: integerWithDefault('Most to return', maxItems),
    offset: offsetParameters.offset,
  }),
  output: z.looseObject({
    entries: z.array(
      z.looseObject({
        path: z.string().describe('Below the path that was asked for; empty for that itself.'),
        type: z.enum(['file', 'dir', 'symlink', 'other']),
        size: z.int(),
        mode: z.string().describe('Four octal digits.'),
        owner: z.string(),
        group: z.string(),
        uid: z.int(),
        gid: z.int(),
        modified_time: z.string(),
        target: z.string().optional().describe('Of a link.'),
        metadata: z.record(z.string(), z.string()),
      }),
    ),
    total_count: z.int(),
    next_offset: z.int().nullable().describe('Where the next page begins; null at the end.'),
  }),
  async handler({ sandbox: reference, max_items, ...query }, { services, caller, signal }) {
    const asked = { ...query, maxItems: max_items };
    const page = await services.files.details(caller, reference, asked, signal);
    const entries = page.items.map(({ mode, modifiedMs, metadata = {}, ...entry }) => ({
      ...withoutUndefined(entry),
      ...{ mode: octal(mode), modified_time: timestamp(modifiedMs), metadata },
    }));
    return { entries, total_count: page.totalCount, next_offset: page.nextOffset };
  },
  rows: ({ entries }) =>
    entries.map(({ mode, owner, group, size, modified_time, path: below, target }) => ({
      ...{ mode, owner, group, size, modified: modified_time },
      path: `${below || '.'}${target === undefined ? '' : ` -> ${target}`}`,
    })),
});

const account = textWithoutNul().min(1).max(64);

export const setFileAttributes = defineAction({
  name: 'SetFileAttributes',
  title: 'Change mode, owner and metadata of a file',
  description:
    'Changes what is given of a file or folder of a sandbox, and follows a final link. Metadata takes the place of all that ' +
    'the file has.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'files set',
  argument: 'sandbox',
  input: z.strictObject({
    sandbox,
    path: path().describe('File or folder, absolute or from /workspace, or from the home of user.'),
    user: asUser,
    mode: fileMode().optional().describe("Unix permissions, 3 or 4 octal digits, such as '640'."),
    owner: account.optional().describe('Name or number of a user of the sandbox.'),
    group: account.optional().describe('Name or number of a group of the sandbox.'),
    metadata: fileMetadata().optional().describe('Extended attributes of the name space user.'),
  }),
  output: z.looseObject({ path: z.string(), changed: z.literal(true) }),
  async handler({ sandbox: reference, mode, ...given }, { services, caller }) {
    const bits = mode === undefined ? undefined : Number.parseInt(mode, 8);
    await services.files.setAttributes(caller, reference, { ...given, mode: bits });
    return { path: given.path, changed: true as const };
  },
});
