/**
 * A requirement is one rule, default, bound or transition of the contract, in words that a test can check.
 * Tests cite it by its id in brackets: `it('[SBX-CREATE-03] …')`. An id is never reused or renumbered.
 */
export interface Requirement {
  id: string;
  text: string;
}

/** What the files of this folder hold: ids and texts, so that each id is one line to search for. */
export type Rules = Record<string, string>;

/** PREFIX-SECTION-NN. */
export const requirementIdPattern = /^(?:SBX|DDB|WIRE)-[A-Z]+-\d\d$/;

export function toRequirements(...sections: Rules[]): Requirement[] {
  return sections.flatMap((rules) => Object.entries(rules).map(([id, text]) => ({ id, text })));
}
