/** Builds the client's error for a failed command: MongoDB's code and name for it, and a sentence. */
import { serialize } from 'bson';
import { codeNames, codeOf } from './fault-codes.ts';

export type FaultName =
  | 'BadValue'
  | 'Unauthorized'
  | 'Overflow'
  | 'InvalidLength'
  | 'ProtocolError'
  | 'AuthenticationFailed'
  | 'InvalidBSON'
  | 'CursorNotFound'
  | 'MaxTimeMSExpired'
  | 'CommandNotFound'
  | 'InvalidNamespace'
  | 'ShutdownInProgress'
  | 'CommandNotSupported'
  | 'CursorInUse'
  | 'ExceededMemoryLimit'
  | 'NetworkInterfaceExceededTimeLimit'
  | 'OperationNotSupportedInTransaction';

const numbers = new Map(Object.entries(codeNames).map(([code, name]) => [name, Number(code)]));

export class Fault extends Error {
  readonly codeName: FaultName;

  constructor(codeName: FaultName, message: string) {
    super(message);
    this.codeName = codeName;
  }
}

/** Returns the reply to a failed command. */
export function faultDocument(error: unknown): Uint8Array {
  const { code, message } = describe(error);
  return serialize({ ok: 0, errmsg: message, code, codeName: nameOf(code) });
}

export function nameOf(code: number): string {
  return codeNames[code] ?? `Location${code}`;
}

/** Returns true for an error after which the database itself must be considered gone. */
export function isConnectionLoss(error: unknown): boolean {
  const state = stateOf(error);
  if (state !== null) return /^(08|57P)/.test(state);
  if (!(error instanceof Error) || error instanceof Fault) return false;
  return (
    ('syscall' in error && 'errno' in error) ||
    /^(Connection terminated|Client has encountered)/.test(error.message)
  );
}

function describe(error: unknown): { code: number; message: string } {
  if (error instanceof Fault) return { code: numbers.get(error.codeName) ?? 8, message: error.message };
  const state = stateOf(error);
  if (state === '57014') return interrupted(error);
  if (isConnectionLoss(error))
    return { code: 91, message: 'the database behind the gateway is not reachable' };
  if (state === null || !(error instanceof Error)) {
    console.error('a command failed because of a defect of the gateway:', error);
    return { code: 1, message: 'the gateway failed' };
  }
  return { code: codeOf(state) ?? 8, message: error.message };
}

/** Either the time limit or a cancellation ended it. */
function interrupted(error: unknown): { code: number; message: string } {
  const isTimeout = error instanceof Error && /timeout/.test(error.message);
  return isTimeout
    ? { code: 50, message: 'operation exceeded time limit' }
    : { code: 11601, message: 'operation was interrupted' };
}

/** A SQLSTATE has five characters, with a digit among them, unlike EPIPE; other connection errors are longer. */
function stateOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : null;
}
