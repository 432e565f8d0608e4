/** Every tool, by its toolset, in the order of the list. */
import { createSshAccess } from './access/create-ssh-access.ts';
import { getPortPreviewUrl } from './access/get-port-preview-url.ts';
import { listPorts } from './access/list-ports.ts';
import type { Tool } from './base/tool.ts';
import { aggregateDocuments } from './documentdb/aggregate-documents.ts';
import { countDocuments } from './documentdb/count-documents.ts';
import { discoverCollections, discoverDatabases } from './documentdb/discover.ts';
import { findDocuments } from './documentdb/find-documents.ts';
import { getCollectionSchema } from './documentdb/get-collection-schema.ts';
import { createSession } from './execution/create-session.ts';
import { getSessionCommandLogs } from './execution/get-session-command-logs.ts';
import { listSessions } from './execution/list-sessions.ts';
import { runCode } from './execution/run-code.ts';
import { runCommand } from './execution/run-command.ts';
import { runInContext } from './execution/run-in-context.ts';
import { runSessionCommand } from './execution/run-session-command.ts';
import { sendSessionInput } from './execution/send-session-input.ts';
import { createFolder } from './files/create-folder.ts';
import { deleteFile } from './files/delete-file.ts';
import { findFiles } from './files/find-files.ts';
import { getFileInfo } from './files/get-file-info.ts';
import { listFiles } from './files/list-files.ts';
import { moveFile } from './files/move-file.ts';
import { readFile } from './files/read-file.ts';
import { replaceInFiles } from './files/replace-in-files.ts';
import { searchContent } from './files/search-content.ts';
import { writeFile } from './files/write-file.ts';
import { gitBranches, gitCreateBranch, gitDeleteBranch } from './git/branches.ts';
import { gitAdd } from './git/git-add.ts';
import { gitCheckout } from './git/git-checkout.ts';
import { gitClone } from './git/git-clone.ts';
import { gitCommit } from './git/git-commit.ts';
import { gitLog } from './git/git-log.ts';
import { gitPull } from './git/git-pull.ts';
import { gitPush } from './git/git-push.ts';
import { gitStatus } from './git/git-status.ts';
import { listRegions, whoAmI } from './identity.ts';
import { configureSandboxAuto } from './sandboxes/configure-sandbox-auto.ts';
import { createSandbox } from './sandboxes/create-sandbox.ts';
import { getSandbox } from './sandboxes/get-sandbox.ts';
import { archiveSandbox, deleteSandbox, startSandbox, stopSandbox } from './sandboxes/lifecycle.ts';
import { listSandboxes } from './sandboxes/list-sandboxes.ts';
import { resizeSandbox } from './sandboxes/resize-sandbox.ts';
import { setSandboxLabels } from './sandboxes/set-sandbox-labels.ts';
import { createSnapshot } from './snapshots/create-snapshot.ts';
import { forkSandbox } from './snapshots/fork-sandbox.ts';
import { getSnapshot } from './snapshots/get-snapshot.ts';
import { listSnapshots } from './snapshots/list-snapshots.ts';
import { rollbackSandbox } from './snapshots/rollback-sandbox.ts';
import { snapshotSandbox } from './snapshots/snapshot-sandbox.ts';

export const toolsByToolset = {
  sandboxes: [
    createSandbox,
    getSandbox,
    listSandboxes,
    startSandbox,
    stopSandbox,
    archiveSandbox,
    deleteSandbox,
    configureSandboxAuto,
    resizeSandbox,
    setSandboxLabels,
  ],
  snapshots: [createSnapshot, getSnapshot, listSnapshots],
  account: [listRegions, whoAmI],
  access: [createSshAccess, listPorts, getPortPreviewUrl],
  files: [
    listFiles,
    findFiles,
    getFileInfo,
    readFile,
    writeFile,
    createFolder,
    moveFile,
    deleteFile,
    searchContent,
    replaceInFiles,
  ],
  execution: [runCode, runCommand],
  sessions: [createSession, listSessions, runSessionCommand, getSessionCommandLogs, sendSessionInput],
  git: [
    gitClone,
    gitStatus,
    gitAdd,
    gitCommit,
    gitBranches,
    gitCheckout,
    gitCreateBranch,
    gitDeleteBranch,
    gitLog,
    gitPull,
    gitPush,
  ],
  documentdb: [
    discoverDatabases,
    discoverCollections,
    getCollectionSchema,
    findDocuments,
    countDocuments,
    aggregateDocuments,
  ],
} as const satisfies Record<string, readonly Tool[]>;

/** The tools that every client gets unless it chooses. */
export const tools: readonly Tool[] = Object.values(toolsByToolset).flat();

/** Toolsets that a client gets only by their names: the list of the others is full. */
export const furtherToolsets = {
  contexts: [runInContext],
  forks: [snapshotSandbox, forkSandbox, rollbackSandbox],
} as const satisfies Record<string, readonly Tool[]>;

export const allTools: readonly Tool[] = [...tools, ...Object.values(furtherToolsets).flat()];
