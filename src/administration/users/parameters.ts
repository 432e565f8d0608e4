/** What is said of a user. */
import { z } from 'zod';
import { text } from '../../catalog/parameters/text.ts';
import { limits } from '../../model/limits.ts';
import { roles } from '../../model/user.ts';

export const user = text().min(1).max(limits.userEmailChars).describe('User ID or email.');

export const name = text()
  .min(1)
  .max(limits.userNameChars)
  .regex(/^[^\p{C}]+$/u, 'must not contain control characters')
  .describe('Name for people.');

export const email = z
  .string()
  .max(limits.userEmailChars)
  .regex(/^[!-?A-~]+@[!-?A-~]+$/, 'must be an email address')
  .describe('Email; no two users have the same.');

export const role = z.enum(roles).describe('admin manages the service and its users; member has sandboxes.');
