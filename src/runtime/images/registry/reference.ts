/**
 * Names of container images, by the grammar of the registries, completed like in Docker. An accepted name consists
 * of letters, digits and `.-_:/@[]` only, and can be no option of a program that receives it.
 */
import { invalidArgument, type SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import {
  DEFAULT_REGISTRY,
  isLoopbackRegistry,
  isRegistryName,
  registryKey,
} from '../../../model/registries.ts';

export interface ImageReference {
  /** host or host:port */
  registry: string;
  repository: string;
  /** null when a digest is given. */
  tag: string | null;
  /** `sha256:` and 64 hex digits. */
  digest: string | null;
  /** True for a registry on this host, which alone may speak HTTP without TLS. */
  loopback: boolean;
}

const NAME_CHARS_MAX = 255;

const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const repositoryPattern = new RegExp(`^${component}(?:/${component})*$`);
const tagPattern = /^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}$/;
const digestPattern = /^sha256:[0-9a-f]{64}$/;

/** Fails with `invalid_argument` (parameter `image`). Contacts no registry. */
export function parseReference(text: string): ImageReference {
  if (text.length > limits.image.referenceChars) throw bad(text, 'it is too long');
  if (/^(oci|oci-archive|docker-archive|dir|docker-daemon|containers-storage|file|tarball):/.test(text)) {
    throw bad(text, 'files of the host cannot be named');
  }
  const [named = '', digest, ...rest] = text.replace(/^docker:\/\//, '').split('@');
  if (rest.length > 0) throw bad(text, "it has more than one '@'");
  if (digest !== undefined && !digestPattern.test(digest)) {
    throw bad(text, "'@' must be followed by sha256: and 64 lower-case hexadecimal digits");
  }
  const { name, tag } = splitTag(named);
  if (tag !== undefined && !tagPattern.test(tag)) throw bad(text, `'${tag}' is not a tag`);
  const { registry, path } = splitRegistry(name);
  if (!isRegistryName(registry)) throw bad(text, `'${registry}' is not a registry's host and port`);
  if (!repositoryPattern.test(path) || name.length > NAME_CHARS_MAX) {
    throw bad(
      text,
      `'${path}' is not a repository's name (lower-case letters, digits, and . _ - between them)`,
    );
  }
  const official = registry === DEFAULT_REGISTRY && !path.includes('/');
  return {
    registry,
    repository: official ? `library/${path}` : path,
    tag: digest === undefined ? (tag ?? 'latest') : null,
    digest: digest ?? null,
    loopback: isLoopbackRegistry(registry),
  };
}

/** Returns the complete name, the same for all spellings of one image. */
export function formatReference({ registry, repository, tag, digest }: ImageReference): string {
  return `${registry}/${repository}${digest === null ? `:${tag}` : `@${digest}`}`;
}

/** A colon after the last slash begins a tag; one before it, a port. */
function splitTag(named: string): { name: string; tag: string | undefined } {
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  if (colon < 0) return { name: named, tag: undefined };
  return { name: named.slice(0, colon), tag: named.slice(colon + 1) };
}

/** The first part is a registry when it looks like a host: with a dot or a port, or localhost. */
function splitRegistry(name: string): { registry: string; path: string } {
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  if (slash < 0 || !(/[.:]/.test(first) || first === 'localhost')) {
    return { registry: DEFAULT_REGISTRY, path: name };
  }
  const registry = registryKey(first) === DEFAULT_REGISTRY ? DEFAULT_REGISTRY : first;
  return { registry, path: name.slice(slash + 1) };
}

function bad(text: string, why: string): SandhavenError {
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  return invalidArgument(
    'image',
    `'${shown}' is not the name of a container image: ${why}.`,
    "Give a name such as 'debian:13' or 'registry.example:5000/team/app@sha256:…', or leave image out for the standard base image.",
  );
}
