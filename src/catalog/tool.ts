/**
 * What a tool is. One definition feeds HTTP, OpenAPI, MCP, the CLI, the SDK, the documentation and the
 * tests; a surface contains no knowledge of any one tool.
 */
import type { z } from 'zod';
import type { Origin } from '../control/audit/audit.ts';
import type { Services } from '../control/services.ts';
import type { Caller } from '../model/user.ts';

/** MCP's hints, in MCP's words. */
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
  /** Aborted when the client goes away. Lifecycle operations ignore it. */
  signal: AbortSignal;
  progress(update: { message: string; done?: number; total?: number }): void;
  /** Given by the caller to make a retry safe. */
  idempotencyKey?: string;
}

export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  /** The contract's identifier, with the dot. */
  name: `Sandbox.${string}` | `DocumentDb.${string}`;
  title: string;
  /** For a model that has never seen it: when to use it, what comes back, what to do on the common error. */
  description: string;
  /** A strict object: unknown parameters are refused by name. */
  input: Input;
  /** A loose object: fields may be added. */
  output: Output;
  annotations: Annotations;
  /** May take longer than a minute: clients ask for an event stream. */
  long?: boolean;
  /** Honours `Idempotency-Key`. */
  idempotencyKey?: boolean;
  handler(input: z.output<Input>, context: CallContext): Promise<z.output<Output>>;
  /**
   * A short text for people and for clients that show their model no structured content: all that the description
   * promises is in it. It names no tool: what a tool is called depends on the transport.
   */
  text?(result: z.output<Output>): string;
  /** On a terminal instead of the text: what a program has printed, as it is, so that it can go on into a pipe. */
  printed?(result: z.output<Output>): string;
  /** Pictures in the result, base64. */
  images?(result: z.output<Output>): { data: string; mimeType: string }[];
}

/** Keeps the types of a definition's schemas together with its handler. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  tool: Tool<Input, Output>,
): Tool {
  return tool as unknown as Tool;
}
