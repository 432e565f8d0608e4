/** The error for an image that the operator's list does not allow. */
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { formatAllowedImages, type RegistryRules } from '../../model/registry-rules.ts';
import type { ImageReference } from './registry/reference.ts';

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
