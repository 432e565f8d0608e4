/** The code of a machine, as the address `/device#code=BCDF-GHJK` brings it. */

const CODE = /^#code=([A-Za-z -]{1,20})$/;

/** @returns '' without one. */
export function codeIn(hash: string): string {
  return CODE.exec(hash)?.[1] ?? '';
}
