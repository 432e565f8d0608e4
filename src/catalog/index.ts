/** Every tool, by its toolset, in the order of the list. */
import { createSshAccess, getPortPreviewUrl, listPorts } from './access.ts';
import type { Tool } from './base/tool.ts';
import { discoverCollections, discoverDatabases } from './documentdb/discover.ts';
import { aggregateDocuments, countDocuments, findDocuments } from './documentdb/queries.ts';
import { getCollectionSchema } from './documentdb/schema-view.ts';
import { runCode, runCommand } from './execution/run.ts';
import { runInContext } from './execution/run-in-context.ts';
import {
  createSession,
  getSessionCommandLogs,
  listSessions,
  runSessionCommand,
  sendSessionInput,
} from './execution/sessions.ts';
import { createFolder, deleteFile, moveFile, writeFile } from './files/changes.ts';
import { findFiles, getFileInfo, listFiles } from './files/listing.ts';
import { readFile } from './files/read-file.ts';
import { replaceInFiles } from './files/replace-in-files.ts';
import { searchContent } from './files/search-content.ts';
import { gitBranches, gitCheckout, gitCreateBranch, gitDeleteBranch } from './git/branches.ts';
import { gitAdd, gitCommit, gitLog, gitStatus } from './git/commits.ts';
import { gitClone, gitPull, gitPush } from './git/remotes.ts';
import { listRegions, whoAmI } from './identity.ts';
import { createSandbox } from './sandboxes/create-sandbox.ts';
import { archiveSandbox, deleteSandbox, startSandbox, stopSandbox } from './sandboxes/lifecycle.ts';
import { configureSandboxAuto, resizeSandbox, setSandboxLabels } from './sandboxes/settings.ts';
import { getSandbox, listSandboxes } from './sandboxes/views.ts';
import { createSnapshot } from './snapshots/create-snapshot.ts';
import { forkSandbox, rollbackSandbox, snapshotSandbox } from './snapshots/forks.ts';
import { getSnapshot, listSnapshots } from './snapshots/snapshots.ts';

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
