/** Shared parts of the actions on authorizations at the code-hosting provider. */
import { z } from 'zod';
import type { AuthorizationService } from '../../control/provider/authorizations.ts';
import type { Services } from '../../control/services.ts';
import { SandhavenError } from '../../model/errors.ts';

/** Throws `failed_precondition` without a configured provider. */
export function providerOf({ authorizations }: Pick<Services, 'authorizations'>): AuthorizationService {
  if (authorizations) return authorizations;
  throw noProvider();
}

export function noProvider(): SandhavenError {
  return new SandhavenError('failed_precondition', 'This service has no code-hosting provider.', {
    hint: 'The operator configures one with --github-client-id and its secret: see docs/providers.md.',
  });
}

export const account = z.looseObject({ id: z.string(), login: z.string() });

export const seconds = (ms: number) => Math.ceil(ms / 1_000);
export const timeOf = (ms: number) => new Date(ms).toISOString();
