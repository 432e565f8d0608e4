/**
 * Recognizes the spellings of shells, JavaScript and Python in place of JSON, and gives JSON's own: models mix them
 * up.
 */

export interface SyntaxProblem {
  problem: string;
  hint: string;
}

/** Returns null when the text that follows is none of them. */
export function foreignSpelling(rest: string, place: 'key' | 'value' | 'sign'): SyntaxProblem | null {
  const quoted = /^(['‘’“”`])([^'‘’“”`\\\n]{0,60})['‘’“”`]/u.exec(rest);
  if (quoted || /^['‘’“”`]/u.test(rest)) {
    const shown = JSON.stringify(quoted?.[2] ?? 'text');
    return {
      problem: `${rest[0]} is no quote of JSON`,
      hint: `Strings and keys take double quotes: ${shown}.`,
    };
  }
  if (/^(?:\/\/|\/\*|#|--)/.test(rest))
    return { problem: 'a comment is there', hint: 'JSON has no comments: remove it.' };
  if (rest[0] === '/') return regularExpression(rest);
  const word = /^(?:new\s+)?([A-Za-z_$][\w$.]*)\s*(\(?)/.exec(rest);
  if (word?.[1] === undefined) {
    return place === 'value' && /^[+.\d-]/.test(rest)
      ? { problem: 'a number has a form that JSON has not', hint: numberHint(rest) }
      : null;
  }
  if (place === 'key')
    return { problem: 'a key has no quotes', hint: `Keys take double quotes: ${JSON.stringify(word[1])}.` };
  if (place !== 'value') return null;
  if (word[2] === '(') return call(word[1], /\(\s*["']([^"'\\]{0,80})["']/.exec(rest)?.[1]);
  const hint = words.get(word[1]) ?? `Strings take double quotes: ${JSON.stringify(word[1])}.`;
  return { problem: `${word[1]} is no value of JSON`, hint };
}

function regularExpression(rest: string): SyntaxProblem {
  const [, pattern = '^abc', options = 'i'] = /^\/((?:[^/\\\n]|\\.){1,80})\/([a-z]*)/.exec(rest) ?? [];
  const spelled = options === '' ? '' : `, "$options": ${JSON.stringify(options)}`;
  return {
    problem: 'a regular expression is there',
    hint: `In JSON it is {"$regex": ${JSON.stringify(pattern)}${spelled}}.`,
  };
}

function call(name: string, argument: string | undefined): SyntaxProblem {
  const problem = `${name}(…) is no JSON`;
  const spelling = calls.get(name.split('.').at(-1) ?? '');
  if (spelling === undefined)
    return { problem, hint: 'Give the value itself, as JSON or MongoDB Extended JSON.' };
  const [before, example, after] = spelling;
  return { problem, hint: `Write ${before}${argument ?? example}${after} instead.` };
}

export function numberHint(rest: string): string {
  if (/^-?Infinity/.test(rest)) return 'In Extended JSON it is {"$numberDouble": "-Infinity"}.';
  const digits = /^[+-]?[\w.]*/.exec(rest)?.[0] ?? '';
  const value = Number(digits.replace(/_/g, '').replace(/n$/, ''));
  const better = digits !== '' && Number.isFinite(value) ? `Write ${value}: ` : '';
  return `${better}a number has no leading + or 0, digits on both sides of its point, and no other signs.`;
}

const objectId = ['{"$oid": "', '507f1f77bcf86cd799439011', '"}'] as const;
const date = ['{"$date": "', '2024-01-31T00:00:00Z', '"}'] as const;
const long = ['the number itself, or {"$numberLong": "', '123', '"},'] as const;
const decimal = ['{"$numberDecimal": "', '19.99', '"}'] as const;
const binary = ['{"$binary": {"base64": "', 'AQID', '", "subType": "00"}}'] as const;
const regex = ['{"$regex": "', '^abc', '"}'] as const;
const plain = ['the number itself, ', '5', ','] as const;
const calls = new Map<string, readonly [string, string, string]>(
  Object.entries({
    ObjectId: objectId,
    ObjectID: objectId,
    ISODate: date,
    Date: date,
    datetime: date,
    fromisoformat: date,
    strptime: date,
    NumberLong: long,
    Long: long,
    Int64: long,
    NumberInt: plain,
    Int32: plain,
    Double: plain,
    NumberDecimal: decimal,
    Decimal128: decimal,
    Decimal: decimal,
    UUID: ['{"$uuid": "', '123e4567-e89b-12d3-a456-426614174000', '"}'] as const,
    BinData: binary,
    Binary: binary,
    RegExp: regex,
    compile: regex,
    Regex: regex,
    Timestamp: ['{"$timestamp": {"t": ', '1700000000', ', "i": 1}}'] as const,
    MinKey: ['{"$minKey": ', '1', '}'] as const,
    MaxKey: ['{"$maxKey": ', '1', '}'] as const,
  }),
);

const words = new Map(
  Object.entries({
    None: 'In JSON it is null.',
    nil: 'In JSON it is null.',
    NULL: 'In JSON it is null.',
    True: 'In JSON it is true.',
    TRUE: 'In JSON it is true.',
    False: 'In JSON it is false.',
    FALSE: 'In JSON it is false.',
    undefined: 'In JSON it is null; to ask whether a field is there, {"$exists": false}.',
    NaN: 'In Extended JSON it is {"$numberDouble": "NaN"}.',
    nan: 'In Extended JSON it is {"$numberDouble": "NaN"}.',
    Infinity: 'In Extended JSON it is {"$numberDouble": "Infinity"}.',
    inf: 'In Extended JSON it is {"$numberDouble": "Infinity"}.',
    MinKey: 'In Extended JSON it is {"$minKey": 1}.',
    MaxKey: 'In Extended JSON it is {"$maxKey": 1}.',
  }),
);
