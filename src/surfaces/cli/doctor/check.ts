/** One check of `sandhaven doctor`, and its finding. */

export interface Finding {
  status: 'ok' | 'warn' | 'fail';
  /** What was seen. */
  found: string;
  /** What to do about it; absent when all is well. */
  advice?: string;
}

export interface Check {
  name: string;
  /** Where it fails, `up` fails. */
  neededByUp?: boolean;
  /** What it looks for is built by `make up` itself. */
  isBuilt?: boolean;
  run(): Promise<Finding>;
}
