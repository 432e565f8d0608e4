/** One check of `sandhaven doctor`, and its finding. */

export interface Finding {
  status: 'ok' | 'warn' | 'fail';
  /** Observed state. */
  found: string;
  /** Remedy; absent when all is well. */
  advice?: string;
}

export interface Check {
  name: string;
  /** A failure of this check makes `up` fail. */
  neededByUp?: boolean;
  /** `make up` itself builds the subject of this check. */
  isBuilt?: boolean;
  run(): Promise<Finding>;
}
