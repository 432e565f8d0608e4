/**
 * Definition of a tool. One definition feeds HTTP, OpenAPI, MCP, the CLI, the SDK, the documentation and the tests; a
 * surface contains no knowledge of any one tool.
 */
import type { z } from 'zod';
import type { Origin } from '../../control/audit/audit.ts';
import type { LiveOutput } from '../../control/ports/index.ts';
import type { Services } from '../../control/services.ts';
import type { Caller } from '../../model/user.ts';

/** MCP's hints, in MCP's terms. */
export interface Annotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

export interface CallContext {
  caller: Caller;
  services: Services;
  requestId: string;
  origin: Origin;
  /** Aborted when the client disconnects. Lifecycle operations ignore it. */
  signal: AbortSignal;
  progress(update: { message: string; done?: number; total?: number }): void;
  /** Receives the output of a program while it runs; absent where the client does not see it. */
  live?: LiveOutput | undefined;
  /** The caller's key that makes a retry safe. */
  idempotencyKey?: string;
  /** Of the sandbox that a creation makes, where it was drawn before. */
  sandboxId?: string;
}

export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  /** The contract's identifier, with the dot. */
  name: `Sandbox.${string}` | `DocumentDb.${string}`;
  title: string;
  /** Written for a model that has never seen the tool: its use, its result, and the answer to the common error. */
  description: string;
  /** Strict object: unknown parameters are refused by name. */
  input: Input;
  /** Loose object: fields may be added. */
  output: Output;
  annotations: Annotations;
  /** true: it may take longer than a minute, so clients request an event stream. */
  long?: boolean;
  /** true: it runs a program, and shows its output meanwhile. */
  live?: boolean;
  /** true: it shows rich results meanwhile, too. */
  displays?: boolean;
  /** false: though it changes nothing itself, it runs a program or lets visitors in, so viewers are refused. */
  forViewers?: false;
  /** true: it honours `Idempotency-Key`. */
  idempotencyKey?: boolean;
  handler(input: z.output<Input>, context: CallContext): Promise<z.output<Output>>;
  /**
   * Returns a short text for people and for clients that show their model no structured content; it contains everything
   * that the description promises. It names no tool: a tool's name depends on the transport.
   */
  text?(result: z.output<Output>): string;
  /** Returns the program's unchanged output in place of the text on a terminal, so that it can be piped. */
  printed?(result: z.output<Output>): string;
  /** Returns the pictures in the result, base64. */
  images?(result: z.output<Output>): { data: string; mimeType: string }[];
}

/** Keeps the types of a definition's schemas together with its handler. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  tool: Tool<Input, Output>,
): Tool {
  return tool as unknown as Tool;
}

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Returns the same object without the keys whose value is undefined, for options that have to be absent then. */
export function withoutUndefined<T extends object>(object: T): Present<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Present<T>;
}
