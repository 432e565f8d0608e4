/** Rule of tools that change only the given parameters: at least one is required. */
import { z } from 'zod';

/** Returns a function for `.check()` of an input; the error names the first of the parameters. */
export function nothingToChange(...parameters: [string, ...string[]]) {
  return z.check<Record<string, unknown>>(({ value, issues }) => {
    if (parameters.some((parameter) => value[parameter] !== undefined)) return;
    const [first, ...others] = parameters;
    const message = `or ${others.join(' or ')} must be given: there is nothing to change`;
    issues.push({ code: 'custom', path: [first], input: value, message });
  });
}
