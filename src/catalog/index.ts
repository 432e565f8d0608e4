/** Every tool, in the order in which they are listed. */
import { runCode } from './execution/run-code.ts';
import { runCommand } from './execution/run-command.ts';
import { createFolder } from './files/create-folder.ts';
import { deleteFile } from './files/delete-file.ts';
import { findFiles } from './files/find-files.ts';
import { getFileInfo } from './files/get-file-info.ts';
import { listFiles } from './files/list-files.ts';
import { moveFile } from './files/move-file.ts';
import { readFile } from './files/read-file.ts';
import { writeFile } from './files/write-file.ts';
import { listRegions, whoAmI } from './identity.ts';
import { configureSandboxAuto } from './sandboxes/configure-sandbox-auto.ts';
import { createSandbox } from './sandboxes/create-sandbox.ts';
import { getSandbox } from './sandboxes/get-sandbox.ts';
import { archiveSandbox, deleteSandbox, startSandbox, stopSandbox } from './sandboxes/lifecycle.ts';
import { listSandboxes } from './sandboxes/list-sandboxes.ts';
import { resizeSandbox } from './sandboxes/resize-sandbox.ts';
import { setSandboxLabels } from './sandboxes/set-sandbox-labels.ts';
import { createSnapshot } from './snapshots/create-snapshot.ts';
import { getSnapshot } from './snapshots/get-snapshot.ts';
import { listSnapshots } from './snapshots/list-snapshots.ts';
import type { Tool } from './tool.ts';

export const tools: readonly Tool[] = [
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
  createSnapshot,
  getSnapshot,
  listSnapshots,
  listRegions,
  whoAmI,
  listFiles,
  findFiles,
  getFileInfo,
  readFile,
  writeFile,
  createFolder,
  moveFile,
  deleteFile,
  runCode,
  runCommand,
];
