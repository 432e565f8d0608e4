/** Parameter that names the sandbox, for every tool. */
import { limits } from '../../model/limits.ts';
import { textWithoutNul } from './text.ts';

function reference() {
  return textWithoutNul().min(1).max(limits.sandboxNameChars);
}

export const sandbox = reference().describe('Name or ID.');

export const optionalSandbox = reference().optional().describe('Name or ID, if you have several.');
