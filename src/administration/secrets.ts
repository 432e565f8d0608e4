/** Actions on secrets of sandboxes. */
import { z } from 'zod';
import { timestamp } from '../catalog/base/sandbox-view.ts';
import { sandbox } from '../catalog/parameters/sandbox.ts';
import {
  atMostBytes,
  integerWithDefault,
  optionalInteger,
  textWithoutNul,
} from '../catalog/parameters/scalars.ts';
import type { ShownSecrets } from '../control/secrets/sandbox-secrets.ts';
import { limits } from '../model/limits.ts';
import { type Secret, secretNamePattern, variablePattern } from '../model/secrets/secret.ts';
import { defineAction } from './action.ts';
import { noProvider } from './authorizations.ts';

const { nameChars, targets: mostTargets, targetChars, valueBytes } = limits.secrets;

export const secret = textWithoutNul().min(1).max(nameChars).describe('Name or ID of the secret.');

export const secretName = z
  .string()
  .min(1)
  .max(nameChars)
  .regex(secretNamePattern, 'must be letters, digits, dot, underscore and hyphen')
  .refine((name) => !name.startsWith('se_'), 'must not begin with se_, which is kept for IDs')
  .describe('Unique name: 1-63 letters, digits, . _ -');

export const value = textWithoutNul()
  .min(1)
  .check(atMostBytes(valueBytes))
  .meta({ description: 'The secret itself; for aws ACCESS_KEY_ID:SECRET_ACCESS_KEY.', sensitive: true });

export const targets = z
  .array(z.string().min(1).max(targetChars))
  .min(1)
  .max(mostTargets)
  .describe('Requests that carry it: https://api.example.com, or GET,POST https://*.example.com:8443/v1.');

export const variable = z
  .string()
  .max(limits.envKeyChars)
  .regex(variablePattern, 'must be the name of an environment variable')
  .describe('Environment variable that holds its placeholder inside.');

const untilItEnds = 'Minutes until no request carries it any more, 0 for never';
const minutes = { min: 0, max: limits.keyMinutesMax };

export const expiresInMinutes = integerWithDefault(untilItEnds, { ...minutes, default: 0 });
const laterExpiresInMinutes = optionalInteger(untilItEnds, minutes);

/** Views of secrets in actions, never with the value. */
const secretOutput = z.looseObject({
  secret_id: z.string(),
  name: z.string(),
  variable: z.string(),
  targets: z.array(z.string()),
  place: z.string(),
  /** Base URL of the provider whose authorization is its value. */
  provider: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  /** Time of the present value; for a provider's of the creation. */
  rotated_at: z.string(),
  /** null: never. */
  expires_at: z.string().nullable(),
  last_used_at: z.string().nullable().describe('Last request that carried it; half a minute behind.'),
});

const sandboxSecretsOutput = z.looseObject({
  sandbox: z.string(),
  secrets: z.array(secretOutput),
});

type SecretView = z.output<typeof secretOutput>;

function toSecretView(secret: Secret): SecretView {
  const { id, name, variable, targets, place, provider, expiresAt, lastUsedAt } = secret;
  return {
    ...{ secret_id: id, name, variable, targets, place, provider },
    created_at: timestamp(secret.createdAt),
    updated_at: timestamp(secret.updatedAt),
    rotated_at: timestamp(secret.rotatedAt),
    expires_at: expiresAt === null ? null : timestamp(expiresAt),
    last_used_at: lastUsedAt === null ? null : timestamp(lastUsedAt),
  };
}

function toSandboxSecretsView({ sandboxId, secrets }: ShownSecrets) {
  return { sandbox: sandboxId, secrets: secrets.map(toSecretView) };
}

function secretRow(secret: SecretView) {
  const { name, variable, place, targets, rotated_at, expires_at, last_used_at } = secret;
  const times = { rotated: rotated_at, expires: expires_at, used: last_used_at };
  return { name, variable, place, targets: targets.join(' '), ...times };
}

export const createProviderSecret = defineAction({
  name: 'CreateProviderSecret',
  title: 'Create a secret of your authorization',
  description:
    'Keeps a secret that stands for your authorization at the code-hosting provider, for sandboxes of your own. A sandbox that ' +
    'is given it calls the provider as you, with all that you have authorized, and does not get the token. The service renews ' +
    'the token; nothing carries it once the authorization is revoked.',
  role: 'member',
  forViewers: false,
  command: 'secrets create-provider',
  argument: 'name',
  words: 'targets',
  input: z.strictObject({
    name: secretName.optional().describe("By default the provider's name: github or gitlab."),
    targets: targets
      .optional()
      .describe(
        "Requests that carry it, at the provider's API and its Git host (default all): GET https://api.github.com/repos/acme.",
      ),
    variable: variable
      .optional()
      .describe(
        'Environment variable that holds its placeholder inside (default GITHUB_TOKEN or GITLAB_TOKEN).',
      ),
    expires_in_minutes: expiresInMinutes,
  }),
  output: secretOutput,
  async handler({ name, targets, variable, expires_in_minutes }, { services, caller }) {
    if (!services.providerSecrets) throw noProvider();
    const asked = { name, targets, variable, expiresInMinutes: expires_in_minutes };
    return toSecretView(await services.providerSecrets.create(caller, asked));
  },
  rows: (view) => [secretRow(view)],
});

export const createSecret = defineAction({
  name: 'CreateSecret',
  title: 'Create a secret',
  description:
    'Keeps a secret, such as an API key, for your sandboxes. A sandbox that is given it holds a placeholder; the service puts ' +
    'the value into its requests to the targets, outside of the sandbox. Nothing shows the value again.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'secrets create',
  argument: 'name',
  words: 'targets',
  secret: 'value',
  input: z.strictObject({
    name: secretName,
    value,
    targets,
    place: z
      .string()
      .max(limits.secrets.placeChars)
      .default('bearer')
      .describe(
        'Where requests carry it: bearer, header:NAME, header:NAME:FORMAT with {secret}, query:NAME, basic, basic:USER or ' +
          'aws (default bearer).',
      ),
    variable: variable
      .optional()
      .describe('Environment variable that holds its placeholder inside (default: the name, upper case).'),
    expires_in_minutes: expiresInMinutes,
  }),
  output: secretOutput,
  async handler({ expires_in_minutes, ...request }, { services, caller }) {
    const asked = { variable: undefined, ...request, expiresInMinutes: expires_in_minutes };
    return toSecretView(await services.secrets.create(caller, asked));
  },
  rows: (view) => [secretRow(view)],
});

export const deleteSecret = defineAction({
  name: 'DeleteSecret',
  title: 'Delete a secret',
  description:
    'Deletes a secret for good and takes it from all sandboxes; no request carries it when the call ends. unavailable: it ' +
    'is deleted, and still in force in a sandbox that could not be reached.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'secrets delete',
  argument: 'secret',
  input: z.strictObject({ secret }),
  output: z.looseObject({ secret_id: z.string(), name: z.string(), deleted: z.literal(true) }),
  async handler({ secret: reference }, { services, caller }) {
    const { id, name } = await services.secrets.remove(caller, reference);
    return { secret_id: id, name, deleted: true as const };
  },
});

const shared = {
  role: 'member',
  scope: 'sandboxes:write',
  argument: 'sandbox',
  words: 'secret',
  input: z.strictObject({ sandbox, secret }),
  output: sandboxSecretsOutput,
} as const;

export const giveSecret = defineAction({
  ...shared,
  name: 'GiveSecret',
  title: 'Give a sandbox a secret',
  description:
    'Lets one of your sandboxes use a secret, in any state. In a running one it is in force when the call ends; processes ' +
    'that start from then on have its variable. It makes no host reachable: the network of the sandbox does.',
  command: 'secrets give',
  async handler({ sandbox: reference, secret: wanted }, { services, caller }) {
    return toSandboxSecretsView(await services.sandboxSecrets.give(caller, reference, wanted));
  },
  rows: ({ secrets }) => secrets.map(secretRow),
});

export const takeSecret = defineAction({
  ...shared,
  name: 'TakeSecret',
  title: 'Take a secret from a sandbox',
  description:
    'Takes a secret from one of your sandboxes. No request of it carries the secret when the call ends; its placeholder ' +
    'stays in processes that have it, and stands for nothing.',
  command: 'secrets take',
  async handler({ sandbox: reference, secret: wanted }, { services, caller }) {
    return toSandboxSecretsView(await services.sandboxSecrets.take(caller, reference, wanted));
  },
  rows: ({ secrets }) => secrets.map(secretRow),
});

export const listSecrets = defineAction({
  name: 'ListSecrets',
  title: 'List secrets',
  description: 'Lists your secrets by name, with their targets and times, never with their values.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'secrets list',
  input: z.strictObject({}),
  output: z.looseObject({ secrets: z.array(secretOutput) }),
  async handler(_, { services, caller }) {
    return { secrets: (await services.secrets.list(caller)).map(toSecretView) };
  },
  rows: ({ secrets }) => secrets.map(secretRow),
});

export const rotateSecret = defineAction({
  name: 'RotateSecret',
  title: 'Replace the value of a secret',
  description:
    'Replaces the value, and the targets where they are given, which may be at any host then. In running sandboxes it is in ' +
    'force when the call ends, and their placeholders stay. unavailable: it is stored, and not in force everywhere yet.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'secrets rotate',
  argument: 'secret',
  words: 'targets',
  secret: 'value',
  input: z.strictObject({
    secret,
    value,
    targets: targets.optional(),
    expires_in_minutes: laterExpiresInMinutes,
  }),
  output: secretOutput,
  async handler({ secret: reference, value, targets, expires_in_minutes }, { services, caller }) {
    const change = { targets, expiresInMinutes: expires_in_minutes };
    return toSecretView(await services.secrets.rotate(caller, reference, value, change));
  },
  rows: (view) => [secretRow(view)],
});

export const updateSecret = defineAction({
  name: 'UpdateSecret',
  title: 'Change a secret',
  description:
    'Changes what is given and leaves the rest; targets replace all earlier ones. In running sandboxes it is in force when ' +
    'the call ends. Targets at other hosts need the value again: RotateSecret. unavailable: it is stored, and not in force ' +
    'everywhere yet.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'secrets update',
  argument: 'secret',
  words: 'targets',
  input: z.strictObject({
    secret,
    targets: targets.optional(),
    variable: variable.optional(),
    expires_in_minutes: laterExpiresInMinutes,
  }),
  output: secretOutput,
  async handler({ secret: reference, expires_in_minutes, ...change }, { services, caller }) {
    const asked = { ...change, expiresInMinutes: expires_in_minutes };
    return toSecretView(await services.secrets.update(caller, reference, asked));
  },
  rows: (view) => [secretRow(view)],
});
