/** Views of contexts and of what runs in them, for a tool and for actions. */
import { z } from 'zod';
import type { ContextSummary } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import { contextLanguages } from '../../model/sandbox.ts';
import { asUser } from '../parameters/sandbox.ts';
import { optionalInteger, path } from '../parameters/scalars.ts';
import { timestamp } from './sandbox-view.ts';

const { idChars, memoryMb } = limits.context;

export const contextId = z
  .string()
  .regex(
    new RegExp(`^[A-Za-z][A-Za-z0-9_-]{0,${idChars - 1}}$`),
    `must be a letter, then up to ${idChars - 1} letters, digits, _ or -`,
  );

/** Parameters of a context that is yet to be made. */
export const contextParameters = {
  context: contextId.optional().describe('Id (default: the language).'),
  language: z.enum(contextLanguages).optional().describe("Of a new context (default: the sandbox's)."),
  user: asUser,
  cwd: path().optional().describe("Where a new one starts (default: /workspace, or the user's home)."),
  memory_mb: optionalInteger('Most memory of each process of a new one, in MiB', memoryMb),
};

export const contextOutput = z.looseObject({
  context: z.string(),
  language: z.enum(contextLanguages),
  user: z.string().nullable().describe('Linux user; null for root.'),
  cwd: z.string(),
  memory_mb: z.int().nullable(),
  created_at: z.string(),
  runs: z.int(),
  busy: z.boolean().describe('Code runs in it.'),
  ended: z.string().nullable().describe('Why it has ended by itself; null while it lives.'),
});

export function toContextView(context: ContextSummary): z.output<typeof contextOutput> {
  const { contextId: id, language, user, cwd, memoryMb: memory_mb, createdAtMs, runs, busy, end } = context;
  return {
    ...{ context: id, language, user, cwd, memory_mb, created_at: timestamp(createdAtMs) },
    ...{ runs, busy, ended: end },
  };
}
