/** Faults of a parameter that takes a value of one of several kinds. */
import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/**
 * Returns the issues inside the kind that was meant, at their places in the input; none when the value is of no kind.
 * An object is meant when something in it is wrong, and not the object itself.
 */
export function issuesInside(issue: z.core.$ZodIssueInvalidUnion): Issue[] {
  const meant = issue.errors.find((issues) => issues.some(isInside)) ?? [];
  return meant.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** Lists the kinds: `open, none or a JSON object`. */
export function kindsOf(issue: z.core.$ZodIssueInvalidUnion, nameOf: (type: string) => string): string {
  const kinds = issue.errors.flatMap(([first]) => {
    if (first?.code === 'invalid_value') return first.values.map(String);
    return first?.code === 'invalid_type' ? [nameOf(first.expected)] : [];
  });
  return `${kinds.slice(0, -1).join(', ')} or ${kinds.at(-1)}`;
}

function isInside({ code, path }: Issue): boolean {
  return path.length > 0 || code === 'unrecognized_keys';
}
