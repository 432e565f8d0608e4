/** Actions on API keys. */
import { z } from 'zod';
import { pageOf, pageOutput, pageParameters } from '../catalog/parameters/pagination.ts';
import { integerWithDefault, text } from '../catalog/parameters/scalars.ts';
import type { OwnedKey } from '../control/people/keys.ts';
import { keyForms, keyInForm } from '../model/key-form.ts';
import { limits } from '../model/limits.ts';
import { scopes } from '../model/scopes.ts';
import { keyStates } from '../model/user.ts';
import { defineAction } from './action.ts';
import { team, user } from './owners.ts';

/** Admin who made a way in for its user; null: the user did. */
const makerOutput = z
  .looseObject({
    user_id: z.string(),
    email: z.string().nullable().describe('null: a user who is gone.'),
  })
  .nullable()
  .describe('Admin who made it for the user, and may act as the user with it; null: the user did.');

const keyOutput = z.looseObject({
  key_id: z.string(),
  name: z.string(),
  user_id: z.string(),
  email: z.string(),
  state: z.enum(keyStates),
  created_at: z.string().nullable(),
  expires_at: z.string().nullable(),
  /** Exact to the minute. */
  last_used_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
  /** null: all that the owner may do. */
  scopes: z.array(z.string()).nullable(),
  /** Team that the key is bound to; null: none. */
  team_id: z.string().nullable(),
  created_by: makerOutput,
});

type KeyView = z.output<typeof keyOutput>;

function toKeyView({ key, owner, maker, state }: OwnedKey): KeyView {
  const { id, name, createdAt, expiresAt, lastUsedAt, revokedAt, scopes, teamId } = key;
  return {
    ...{ key_id: id, name, user_id: owner.id, email: owner.email },
    state,
    // Keys from an older service have no date.
    created_at: timeOf(createdAt === 0 ? null : createdAt),
    expires_at: timeOf(expiresAt),
    last_used_at: timeOf(lastUsedAt),
    revoked_at: timeOf(revokedAt),
    scopes: scopes && [...scopes],
    team_id: teamId,
    created_by: maker && { user_id: maker.id, email: maker.email },
  };
}

function keyRow(view: KeyView): Record<string, unknown> {
  const { key_id, name, email, state, created_at, expires_at, last_used_at, scopes, team_id, created_by } =
    view;
  return {
    key: key_id,
    name,
    user: email,
    state,
    scopes: scopes?.join(',') ?? 'all',
    team: team_id,
    by: created_by && (created_by.email ?? created_by.user_id),
    created: created_at,
    expires: expires_at,
    used: last_used_at,
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

export const createKey = defineAction({
  name: 'CreateKey',
  title: 'Create an API key',
  description:
    'Creates a key for yourself. As an admin, for another user: the first way in of one who never came in or, where the ' +
    'operator lets admins read inside, any, which names you to the user. Returns it only once and stores only its hash.',
  role: 'member',
  command: 'keys create',
  argument: 'name',
  input: z.strictObject({
    name: text()
      .min(1)
      .max(limits.keyNameChars)
      .regex(/^[^\p{C}]+$/u, 'must not contain control characters')
      .describe('Purpose of the key.'),
    user: user.optional().describe('Owner: user ID or email (default: yourself).'),
    scopes: z
      .array(z.enum(scopes))
      .min(1)
      .max(scopes.length)
      .optional()
      .describe(`What the key may be used for; all that the owner may do when left out.`),
    team: team
      .optional()
      .describe('Team that the key is bound to: it acts for this team, and does nothing else.'),
    expires_in_minutes: integerWithDefault('Minutes until it expires, 0 for never', {
      ...{ min: 0, max: limits.keyMinutesMax, default: 0 },
    }),
    form: z
      .enum(keyForms)
      .default('sandhaven')
      .describe("Form in which the key is shown; e2b is the one that E2B's clients take."),
  }),
  output: keyOutput.extend({ api_key: z.string() }),
  async handler(
    { user, name, team, scopes: wanted, expires_in_minutes: expiresInMinutes, form },
    { services, caller },
  ) {
    const created = await services.keys.create(caller, {
      ...{ user, name, team, expiresInMinutes },
      scopes: wanted ? [...new Set(wanted)] : null,
    });
    return { ...toKeyView(created), api_key: keyInForm(created.apiKey, form) };
  },
});

export const listKeys = defineAction({
  name: 'ListKeys',
  title: 'List API keys',
  description: 'Lists keys, newest first, with the minute of their last use: yours, or as an admin all.',
  role: 'member',
  command: 'keys list',
  argument: 'user',
  input: z.strictObject({
    user: user.optional().describe('Only keys of this user: ID or email.'),
    ...pageParameters,
  }),
  output: z.looseObject({ keys: z.array(keyOutput), ...pageOutput }),
  async handler(parameters, { services, caller }) {
    const { user, page, page_size: pageSize } = parameters;
    const { keys, totalCount } = await services.keys.list(caller, user, { page, pageSize });
    return { keys: keys.map(toKeyView), ...pageOf(totalCount, parameters) };
  },
  rows: ({ keys }) => keys.map(keyRow),
});

export const revokeKey = defineAction({
  name: 'RevokeKey',
  title: 'Revoke an API key',
  description:
    'Ends the key and its work in progress, for good; create a new key to replace it. Yours, ' +
    "or as an admin any user's.",
  role: 'member',
  command: 'keys revoke',
  argument: 'key_id',
  input: z.strictObject({
    key_id: text()
      .min(1)
      .max(limits.keyNameChars)
      .describe('ID of the key, as ListKeys shows it; not the key.'),
  }),
  output: keyOutput,
  async handler({ key_id }, { services, caller }) {
    return toKeyView(await services.keys.revoke(caller, key_id));
  },
  rows: (key) => [keyRow(key)],
});
