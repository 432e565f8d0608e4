/** Label selectors of Kubernetes. */

export interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/** An empty selector matches everything. Throws for an operator that is none. */
export function matches(selector: Selector, labels: Record<string, string>): boolean {
  const pairs = Object.entries(selector.matchLabels ?? {});
  return (
    pairs.every(([key, value]) => labels[key] === value) &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      const value = labels[key];
      const isOneOf = value !== undefined && values.includes(value);
      if (operator === 'In') return isOneOf;
      if (operator === 'NotIn') return !isOneOf;
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      throw new Error(`no operator of a selector: ${operator}`);
    })
  );
}
