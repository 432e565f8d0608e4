/** Tokens of one sandbox open work inside it, and its previews. */
import { SandhavenError } from '../../model/errors.ts';
import type { Caller } from '../../model/user.ts';

/** Tools and administration actions by name; nothing else is open. */
const open: ReadonlySet<string> = new Set([
  ...[
    'Sandbox.ListFiles',
    'Sandbox.FindFiles',
    'Sandbox.GetFileInfo',
    'Sandbox.ReadFile',
    'Sandbox.WriteFile',
  ],
  ...['Sandbox.CreateFolder', 'Sandbox.MoveFile', 'Sandbox.DeleteFile'],
  ...['Sandbox.SearchContent', 'Sandbox.ReplaceInFiles', 'GetFileDetails', 'SetFileAttributes'],
  ...['Sandbox.RunCode', 'Sandbox.RunCommand', 'Sandbox.RunInContext'],
  ...['CreateContext', 'ListContexts', 'InterruptContext', 'RestartContext', 'DeleteContext'],
  ...['Sandbox.CreateSession', 'Sandbox.ListSessions', 'Sandbox.RunSessionCommand'],
  ...['Sandbox.GetSessionCommandLogs', 'Sandbox.SendSessionInput', 'DeleteSession'],
  ...['StartProcess', 'ListProcesses', 'SendProcessInput', 'SignalProcess', 'ResizeProcess', 'EndProcess'],
  ...['ListTerminals', 'EndTerminal'],
  ...['Sandbox.ListPorts', 'Sandbox.GetPortPreviewUrl', 'GetFilePreviewUrl'],
]);

/** Throws `permission_denied` for a caller whose token opens one sandbox, where that is not enough. */
export function assertOpen({ only }: Pick<Caller, 'only'>, name: string): void {
  if (only === undefined || open.has(name)) return;
  throw refusedToTokens(name);
}

/** @param what Subject of the sentence. */
export function refusedToTokens(what: string): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    `${what} is closed to tokens of one sandbox: they open its files, programs and previews.`,
    { hint: 'Use an API key.' },
  );
}
