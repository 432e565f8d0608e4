/** Classifies the codes of servers' errors. */

export type Kind =
  | 'credentials'
  | 'forbidden'
  | 'timeout'
  | 'refused'
  | 'unsupported'
  | 'missing'
  | 'memory'
  | 'too_large'
  | 'passing';

const kindOfCode: Readonly<Record<number, Kind>> = {
  ...kinds('credentials', [11, 18]),
  ...kinds('forbidden', [13]),
  ...kinds('timeout', [50, 262]),
  ...kinds('refused', [2, 4, 5, 9, 14, 15, 16, 17, 20, 27, 28, 30, 31, 33, 38, 40, 45, 49, 52, 53, 54]),
  ...kinds('refused', [57, 66, 72, 73, 74, 78, 80, 81, 103, 104, 167, 168, 169, 197, 241, 291]),
  ...kinds('unsupported', [59, 115, 166, 238, 303, 40324]),
  ...kinds('missing', [26]),
  ...kinds('memory', [39, 96, 146, 292, 16819, 16820, 16945]),
  ...kinds('too_large', [10334, 17260, 17419, 17420]),
  // The server restarts, steps down or has lost the cursor.
  ...kinds('passing', [6, 7, 43, 63, 89, 91, 112, 133, 175, 189, 237, 9001, 10107, 11600, 11601, 11602]),
  ...kinds('passing', [13388, 13435, 13436]),
};

/** Codes from here on belong to single places in the server, nearly all of them about a query's text. */
const FIRST_LOCATION_CODE = 10_000;

/** Returns null for an unknown code. */
export function kindOf(code: number | null): Kind | null {
  if (code === null) return null;
  return kindOfCode[code] ?? (code >= FIRST_LOCATION_CODE ? 'refused' : null);
}

function kinds(kind: Kind, codes: readonly number[]): Record<number, Kind> {
  return Object.fromEntries(codes.map((code) => [code, kind]));
}
