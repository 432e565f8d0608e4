/** A result of a tool, and what its text must say of each field that a model is promised. */
export interface Sample {
  result: Record<string, unknown>;
  /**
   * By field, of the result or of the records in it. A text stands in the result's text as it is; `ELSEWHERE` is for a
   * field of which the description says that it is in structuredContent alone.
   */
  says: Record<string, string | RegExp | typeof ELSEWHERE>;
}

export const ELSEWHERE = Symbol('in structuredContent, as the description says');

/** By the name of the tool. Several results show what depends on them. */
export type Samples = Record<string, Sample[]>;
