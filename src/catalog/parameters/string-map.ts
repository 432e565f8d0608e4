/** Parameters of type json: objects whose values are strings, with bounded keys, values and number. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';

type Fault = [key: string, message: string];

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const controlCharacter = /[\u0000-\u001f\u007f]/;
const envKey = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function labels() {
  return stringMap(limits.labels, (key, value) => {
    if (key.length < 1 || key.length > limits.labelKeyChars || controlCharacter.test(key)) {
      return `has a key that is not 1 to ${limits.labelKeyChars} characters without control characters`;
    }
    if (value.length > limits.labelValueChars) return `must be at most ${limits.labelValueChars} characters`;
    if (!value.isWellFormed() || !key.isWellFormed()) return 'must be valid Unicode';
    return null;
  });
}

export function environment() {
  return stringMap(limits.envVars, environmentFault).check(({ value, issues }) => {
    const total = Object.entries(value).reduce((sum, [key, item]) => sum + Buffer.byteLength(key + item), 0);
    if (total <= limits.envTotalBytes) return;
    const message = `must be at most ${limits.envTotalBytes} bytes in all; it is ${total}`;
    issues.push({ code: 'custom', input: value, message });
  });
}

/** Extended attributes of a file, named without their name space. */
export function fileMetadata() {
  const { entries, bytes, nameBytes } = limits.fileMetadata;
  return stringMap(entries, (key, value) => {
    if (key === '' || Buffer.byteLength(key) > nameBytes || key.includes('\0')) {
      return `has a name that is not 1 to ${nameBytes} bytes without NUL`;
    }
    if (Buffer.byteLength(key + value) > bytes) return `must be at most ${bytes} bytes, with its name`;
    if (!value.isWellFormed() || !key.isWellFormed()) return 'must be valid Unicode';
    return null;
  });
}

function environmentFault(key: string, value: string): string | null {
  if (!envKey.test(key) || key.length > limits.envKeyChars) {
    return `has a key that is not [A-Za-z_][A-Za-z0-9_]* of at most ${limits.envKeyChars} characters`;
  }
  if (Buffer.byteLength(value) > limits.envValueBytes) return `must be at most ${limits.envValueBytes} bytes`;
  if (value.includes('\0')) return 'must not contain a NUL character';
  if (!value.isWellFormed()) return 'must be valid Unicode';
  return null;
}

function stringMap(maxKeys: number, fault: (key: string, value: string) => string | null) {
  return z.record(z.string(), z.string()).check(({ value, issues }) => {
    const entries = Object.entries(value);
    if (entries.length > maxKeys) {
      const message = `must have at most ${maxKeys} keys; it has ${entries.length}`;
      issues.push({ code: 'custom', input: value, message });
      return;
    }
    const faults = entries.map(([key, item]): Fault => [key, fault(key, item) ?? '']);
    for (const [key, message] of faults.filter(([, text]) => text !== '')) {
      issues.push({ code: 'custom', input: value, path: [key], message });
    }
  });
}
