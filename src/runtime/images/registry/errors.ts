/** Maps failures of registries to errors for the caller. */
import { notFound, SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { formatAllowedImages, type RegistryRules } from '../../../model/registries.ts';
import { NotReached } from '../../../outbound/addresses.ts';
import { failureOf } from './helpers.ts';
import { formatReference, type ImageReference } from './reference.ts';

const absent =
  /name unknown|repository name not known|(reading|fetching) manifest .*(unknown|not found|404)/i;
const refused =
  /unauthorized|authentication required|invalid username\/password|denied|status (code )?40[13]/i;
const untrue = /digest did not match|does not match (the )?(expected )?digest|digest mismatch/i;

/**
 * Keeps skopeo's output in the cause: it may hold addresses of the operator's network.
 * @param withCredentials True when the service had credentials for this registry.
 */
export function registryError(error: unknown, reference: ImageReference, withCredentials: boolean): unknown {
  if (error instanceof SandhavenError) return error;
  const said = failureOf(error)?.stderr ?? '';
  const name = formatReference(reference);
  if (absent.test(said)) return notFound('image', `There is no image ${name}.`, 'Check its name and tag.');
  if (refused.test(said)) return withCredentials ? refusedToUs(reference, error) : notForAll(reference);
  if (untrue.test(said)) {
    return new SandhavenError(
      'unavailable',
      `The registry ${reference.registry} sends data for ${name} that does not match its digest.`,
      { parameter: 'image', hint: 'Choose another image or registry.', retryable: false },
      error,
    );
  }
  return unreachable(reference, error);
}

/** The error for the registry's host, or one that it led to; null where the program's own output says more. */
export function exitError(error: unknown, reference: ImageReference): SandhavenError | null {
  if (error instanceof SandhavenError) return error;
  return error instanceof NotReached && error.reason === 'private' ? notPublic(reference, error) : null;
}

/** The registry, or a host that it sends to. */
export function notPublic(reference: ImageReference, cause?: unknown): SandhavenError {
  const { registry } = reference;
  return new SandhavenError(
    'permission_denied',
    `The registry ${registry}, or a host that it sends to, has an address that is not public.`,
    {
      parameter: 'image',
      hint: `An admin can name it when the service starts: --registry-allow all,${registry}.`,
    },
    cause,
  );
}

/** The same for the status of an HTTP answer; null when there was none. */
export function registryAnswer(
  status: number | null,
  reference: ImageReference,
  withCredentials: boolean,
  cause?: unknown,
): SandhavenError {
  const name = formatReference(reference);
  if (status === 404) return notFound('image', `There is no image ${name}.`, 'Check its name and tag.');
  if (status === 401 || status === 403)
    return withCredentials ? refusedToUs(reference, cause) : notForAll(reference);
  return unreachable(reference, cause);
}

function unreachable(reference: ImageReference, cause: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    `The registry ${reference.registry} cannot be reached, or does not answer as a registry does.`,
    { parameter: 'image', hint: 'Check the name of the registry, then try again.', retryable: true },
    cause,
  );
}

function notForAll(reference: ImageReference): SandhavenError {
  return notFound(
    'image',
    `There is no image ${formatReference(reference)} that can be pulled without credentials.`,
    `Check its name; if it is private, an admin must give credentials: sandhaven registries add ${reference.registry}.`,
  );
}

/** Registries do not distinguish a wrong password from an image that this account may not see. */
function refusedToUs(reference: ImageReference, cause: unknown): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    `The registry ${reference.registry} refuses ${formatReference(reference)} to the account that this service has there.`,
    {
      parameter: 'image',
      hint: `Check the image's name; an admin can renew the credentials: sandhaven registries add ${reference.registry}.`,
    },
    cause,
  );
}

/** The operator's list does not allow the image. */
export function notAllowed(reference: ImageReference, { allowed }: RegistryRules): SandhavenError {
  const { rulesShown } = limits.registries;
  const names = (allowed ?? []).map(formatAllowedImages);
  const more = names.length > rulesShown ? ' and others' : '';
  const hint =
    names.length === 0
      ? 'No images of registries may be pulled: leave image out for the standard base image.'
      : `This service pulls from ${names.slice(0, rulesShown).join(', ')}${more} only.`;
  return new SandhavenError(
    'permission_denied',
    `Images of ${reference.registry}/${reference.repository} may not be pulled.`,
    { parameter: 'image', hint },
  );
}
