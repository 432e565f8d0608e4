/** Lists the operators of aggregation expressions, of `$group` and of windows, with their arguments. */

/** Kind of value under a name in an operator's argument. */
export type Slot =
  | 'expression'
  /** An expression that may use the operator's variables. */
  | 'bound'
  /** A name for the operator's own variable. */
  | 'variable'
  /** 1, −1, or an order of fields. */
  | 'order'
  /** The list of `$switch`. */
  | 'branches';

/** An object with a closed set of names. */
export interface Named {
  slots: ReadonlyMap<string, Slot>;
  /** Variables of the operator without names from the caller. */
  binds: readonly string[];
  /** Any other value is also accepted, as an expression. */
  orExpression: boolean;
}

/** A `literal` is never walked; `let` is `$let`'s own. */
export type Argument = 'expression' | 'literal' | 'meta' | 'let' | Named;

export type Operators = ReadonlyMap<string, Argument>;

export const expressionOperators: Operators = new Map<string, Argument>([
  ...plain(
    '$abs $add $ceil $divide $exp $floor $ln $log $log10 $mod $multiply $pow $round $sqrt $subtract $trunc',
  ),
  ...plain('$sin $cos $tan $asin $acos $atan $atan2 $sinh $cosh $tanh $asinh $acosh $atanh'),
  ...plain('$degreesToRadians $radiansToDegrees $sigmoid $rand $bitAnd $bitNot $bitOr $bitXor'),
  ...plain('$and $or $not $cmp $eq $gt $gte $lt $lte $ne $ifNull'),
  ...plain(
    '$arrayElemAt $arrayToObject $concatArrays $first $in $indexOfArray $isArray $last $objectToArray',
  ),
  ...plain('$range $reverseArray $size $slice $allElementsTrue $anyElementTrue $setDifference $setEquals'),
  ...plain(
    '$setIntersection $setIsSubset $setUnion $mergeObjects $sum $avg $min $max $stdDevPop $stdDevSamp',
  ),
  ...plain('$concat $indexOfBytes $indexOfCP $split $strLenBytes $strLenCP $strcasecmp $substr $substrBytes'),
  ...plain('$substrCP $toLower $toUpper $binarySize $bsonSize $type $isNumber $toBool $toDate $toDecimal'),
  ...plain('$toDouble $toInt $toLong $toObjectId $toString $toUUID $toHashedIndexKey $tsIncrement $tsSecond'),
  ...['$year', '$month', '$week', '$dayOfYear', '$dayOfMonth', '$dayOfWeek', '$hour'].map(datePart),
  ...['$minute', '$second', '$millisecond', '$isoWeekYear', '$isoWeek', '$isoDayOfWeek'].map(datePart),
  ['$literal', 'literal'],
  ['$meta', 'meta'],
  ['$let', 'let'],
  ['$cond', { ...named('if then else'), orExpression: true }],
  ['$switch', named('default', { branches: 'branches' })],
  ['$map', { ...named('input', { as: 'variable', in: 'bound' }), binds: ['this'] }],
  ['$filter', { ...named('input limit', { as: 'variable', cond: 'bound' }), binds: ['this'] }],
  ['$reduce', { ...named('input initialValue', { in: 'bound' }), binds: ['this', 'value'] }],
  ['$zip', named('inputs useLongestLength defaults')],
  ['$sortArray', named('input', { sortBy: 'order' })],
  ...['$firstN', '$lastN', '$maxN', '$minN'].map((name): [string, Argument] => [name, named('input n')]),
  ['$median', named('input method')],
  ['$percentile', named('input p method')],
  ['$getField', { ...named('field input'), orExpression: true }],
  ['$setField', named('field input value')],
  ['$unsetField', named('field input')],
  ['$convert', named('input to format byteOrder onError onNull')],
  ['$dateAdd', named('startDate unit amount timezone')],
  ['$dateSubtract', named('startDate unit amount timezone')],
  ['$dateDiff', named('startDate endDate unit timezone startOfWeek')],
  ['$dateTrunc', named('date unit binSize timezone startOfWeek')],
  ['$dateToString', named('date format timezone onNull')],
  ['$dateToParts', named('date timezone iso8601')],
  ['$dateFromString', named('dateString format timezone onError onNull')],
  [
    '$dateFromParts',
    named('year month day hour minute second millisecond isoWeekYear isoWeek isoDayOfWeek timezone'),
  ],
  ['$trim', named('input chars')],
  ['$ltrim', named('input chars')],
  ['$rtrim', named('input chars')],
  ['$regexMatch', named('input regex options')],
  ['$regexFind', named('input regex options')],
  ['$regexFindAll', named('input regex options')],
  ['$replaceOne', named('input find replacement')],
  ['$replaceAll', named('input find replacement')],
]);

/** For the fields of `$group`, `$bucket` and `$bucketAuto`. */
export const accumulators: Operators = new Map<string, Argument>([
  ...plain('$addToSet $avg $concatArrays $count $first $last $max $mergeObjects $min $push $setUnion'),
  ...plain('$stdDevPop $stdDevSamp $sum'),
  ['$top', named('output', { sortBy: 'order' })],
  ['$bottom', named('output', { sortBy: 'order' })],
  ['$topN', named('output n', { sortBy: 'order' })],
  ['$bottomN', named('output n', { sortBy: 'order' })],
  ...['$firstN', '$lastN', '$maxN', '$minN'].map((name): [string, Argument] => [name, named('input n')]),
  ['$median', named('input method')],
  ['$percentile', named('input p method')],
]);

/** For the output of `$setWindowFields`. */
export const windowFunctions: Operators = new Map<string, Argument>([
  ...accumulators,
  ...plain('$covariancePop $covarianceSamp $rank $denseRank $documentNumber $linearFill $locf'),
  ['$derivative', named('input unit')],
  ['$integral', named('input unit')],
  ['$expMovingAvg', named('input N alpha')],
  ['$minMaxScaler', named('input min max')],
  ['$shift', named('output by default')],
]);

/** Permitted names for `$meta`: scores and distances, nothing of records and index keys. */
export const metaNames: readonly string[] = [
  'textScore',
  'geoNearDistance',
  'geoNearPoint',
  'score',
  'scoreDetails',
  'searchScore',
  'searchScoreDetails',
  'searchHighlights',
  'vectorSearchScore',
];

export const systemVariables: readonly string[] = ['ROOT', 'CURRENT', 'NOW', 'CLUSTER_TIME', 'REMOVE'];
/** Valid in `$redact` alone. */
export const redactVariables: readonly string[] = ['DESCEND', 'PRUNE', 'KEEP'];

function plain(names: string): [string, Argument][] {
  return names.split(' ').map((name) => [name, 'expression']);
}

function named(expressions: string, others: Record<string, Slot> = {}): Named {
  const slots = expressions.split(' ').map((name): [string, Slot] => [name, 'expression']);
  return { slots: new Map([...slots, ...Object.entries(others)]), binds: [], orExpression: false };
}

function datePart(name: string): [string, Argument] {
  return [name, { ...named('date timezone'), orExpression: true }];
}
