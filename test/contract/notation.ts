/**
 * The notation of the tables in `stated` and `added`, which are written by hand, so that each number stands twice, there and
 * in `src`, and neither can change alone. `stated` has what the interfaces prescribe that the project implements: it
 * never changes. `added` has the project's own.
 */

/** Bounds and default of one parameter. A bound that is missing here does not exist. */
export interface Rules {
  default?: unknown;
  /** Bounds of an integer. */
  min?: number;
  max?: number;
  /** Length of a string. */
  minChars?: number;
  maxChars?: number;
  /** Length of a string as UTF-8. */
  maxBytes?: number;
  /** Regular expression of a string, as clients see it. */
  pattern?: string;
  /** Length of a list. */
  minItems?: number;
  maxItems?: number;
  /** Rules of each string in a list. */
  items?: Rules;
  /** Keys of an object that has no others. */
  keys?: Record<string, Parameter>;
  /** Examples on both sides of a rule that has no keyword here. */
  takes?: readonly unknown[];
  refuses?: readonly unknown[];
  /** Beginning that keeps a string valid at any length. */
  beginning?: string;
  /** Other parameters without which this one has no effect. */
  beside?: Record<string, unknown>;
}

export interface Parameter extends Rules {
  type: 'string' | 'integer' | 'boolean' | 'json' | 'strings' | 'either';
  required: boolean;
  /** All values of an enum. */
  values?: readonly string[];
  /** Kinds of values, of which each is taken. */
  kinds?: readonly Parameter[];
}

/** Rules between parameters of one tool. */
export interface Between {
  /** A call gives at most one of them. */
  exclusive?: readonly string[];
  /** A call gives at least one of them. */
  atLeastOneOf?: readonly string[];
  /** A call gives all of them or none. */
  together?: readonly string[];
}

export interface ToolContract extends Between {
  name: string;
  parameters: Record<string, Parameter>;
}

/** The project's own part of a tool: parameters, and bounds that `stated` leaves open. */
export interface Addition extends Between {
  name: string;
  parameters: Record<string, Parameter | PartialRules>;
}

/** Rules of a stated parameter, and of its keys. */
export type PartialRules = Omit<Rules, 'keys'> & { keys?: Record<string, Rules> };

export const required = parametersThat(true);
export const optional = parametersThat(false);

export function tool(
  name: string,
  parameters: Record<string, Parameter>,
  between: Between = {},
): ToolContract {
  return { name, parameters, ...between };
}

export function addition(name: string, parameters: Addition['parameters'], between: Between = {}): Addition {
  return { name, parameters, ...between };
}

function parametersThat(required: boolean) {
  const of = (type: Parameter['type'], rules: Rules = {}): Parameter => ({ type, required, ...rules });
  return {
    string: of('string'),
    stringWith: (rules: Rules) => of('string', rules),
    oneOf: (values: readonly string[], rules: Rules = {}) => ({ ...of('string', rules), values }),
    integer: (rules: Rules) => of('integer', rules),
    boolean: (rules: Rules) => of('boolean', rules),
    /** Object whose values are strings. */
    json: of('json'),
    jsonWith: (rules: Rules) => of('json', rules),
    /** List of strings. */
    strings: of('strings'),
    stringsWith: (rules: Rules) => of('strings', rules),
    either: (kinds: readonly Parameter[], rules: Rules) => ({ ...of('either', rules), kinds }),
  };
}
