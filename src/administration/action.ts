/**
 * Definition of an administration action: an operation of operators and members on the service itself. One definition
 * feeds HTTP, OpenAPI and the command line. Actions are no tools: no model sees them.
 */
import type { z } from 'zod';
import type { Origin } from '../control/audit/audit.ts';
import type { Services } from '../control/services.ts';
import type { Scope } from '../model/scopes.ts';
import type { Caller, Role } from '../model/user.ts';

export interface ActionContext {
  caller: Caller;
  services: Services;
  requestId: string;
  origin: Origin;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

export interface Action<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  description: string;
  /** Required role: `member` admits every key. */
  role: Role;
  /** Scope that a key needs; by default `admin` for actions of admins, `account` for others. */
  scope?: Scope;
  /** false: viewers are refused though they have its scope: it lets visitors in, or lends an authorization. */
  forViewers?: false;
  /** Words of the command after `sandhaven`, such as `users create`. A second word `list` may be left out. */
  command: string;
  /** Parameter that the command takes without its flag. */
  argument?: string;
  /** Parameter that the command takes from the arguments after that one. */
  words?: string;
  /** Parameter that the command takes from a file or standard input, never as an argument. */
  secret?: string;
  /** Strict object: unknown parameters are refused by name. */
  input: Input;
  /** Loose object: fields may be added. */
  output: Output;
  handler(input: z.output<Input>, context: ActionContext): Promise<z.output<Output>>;
  /** Returns the result as a table for people; by default its fields are shown. */
  rows?(result: z.output<Output>): Record<string, unknown>[];
}

/** Keeps the types of a definition's schemas together with its handler. */
export function defineAction<Input extends z.ZodObject, Output extends z.ZodObject>(
  action: Action<Input, Output>,
): Action {
  return action as unknown as Action;
}

/** Returns the scope that a key needs for the action. */
export function scopeOf({ scope, role }: Pick<Action, 'scope' | 'role'>): Scope {
  return scope ?? (role === 'admin' ? 'admin' : 'account');
}
