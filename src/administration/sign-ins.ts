/** Actions on sign-ins of browsers and machines. */
import { z } from 'zod';
import { pageOf, pageOutput, pageParameters } from '../catalog/parameters/pagination.ts';
import { integerWithDefault, textWithoutNul } from '../catalog/parameters/scalars.ts';
import type { SignIn } from '../model/access/sign-ins.ts';
import type { DeviceSignIn } from '../model/access/ways-in.ts';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { isNarrowed, scopes } from '../model/scopes.ts';
import type { Caller } from '../model/user.ts';
import { defineAction } from './action.ts';
import { user } from './owners.ts';

/** View of a sign-in in actions: everything but its token. */
const signInOutput = z.looseObject({
  sign_in_id: z.string(),
  user_id: z.string(),
  /** Key that it was opened with, and ends with; null: opened otherwise. */
  key_id: z.string().nullable(),
  /** Id of the admin who made the key, the link or the identity that it came by; null: the user's own. */
  made_by: z.string().nullable(),
  /** true: the caller's own. */
  current: z.boolean(),
  created_at: z.string(),
  /** Exact to the minute. */
  last_used_at: z.string(),
  expires_at: z.string(),
});

function toSignInView(signIn: SignIn, caller: Pick<Caller, 'keyId'>): z.output<typeof signInOutput> {
  const { id, userId, keyId, madeBy, createdAt, lastUsedAt, expiresAt } = signIn;
  return {
    ...{ sign_in_id: id, user_id: userId, key_id: keyId, made_by: madeBy },
    current: id === caller.keyId,
    created_at: new Date(createdAt).toISOString(),
    last_used_at: new Date(lastUsedAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
  };
}

export const userCode = textWithoutNul()
  .min(1)
  .max(40)
  .describe('Code that the machine shows, such as BCDF-GHJK.');

const deviceSignInOutput = z.looseObject({
  user_code: z.string(),
  /** As the machine calls itself. */
  machine: z.string(),
  /** IP address that asked. */
  address: z.string(),
  created_at: z.string(),
  expires_at: z.string(),
});

function toDeviceSignInView(signIn: DeviceSignIn): z.output<typeof deviceSignInOutput> {
  const { userCode: code, machine, address, createdAt, expiresAt } = signIn;
  return {
    ...{ user_code: code, machine, address },
    created_at: new Date(createdAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
  };
}

export const createSignInLink = defineAction({
  name: 'CreateSignInLink',
  title: 'Create a sign-in link',
  description:
    'Makes a link with which a browser signs in as you. As an admin, for another user: the first way in of one who never ' +
    'came in or, where the operator lets admins read inside, of anybody. It works once, within 15 minutes.',
  role: 'member',
  command: 'sign-ins link',
  argument: 'user',
  input: z.strictObject({
    user: user.optional().describe('User who signs in: user ID or email (default: yourself).'),
  }),
  output: z.looseObject({ url: z.string(), email: z.string(), expires_at: z.string() }),
  async handler({ user }, { services, caller }) {
    // The browser that uses it may do all that its user may.
    if (isNarrowed(caller)) throw tooNarrow();
    const account = await services.keys.ownerOf(caller, user ?? caller.id);
    const { url, expiresAt } = await services.signIns.createLink(
      account.id,
      services.keys.makerOf(caller, account),
    );
    return { url, email: account.email, expires_at: new Date(expiresAt).toISOString() };
  },
});

function tooNarrow(): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    'A key with scopes cannot make a link, which has no limit.',
    {
      hint: 'Use a key without scopes, or sign in with this key itself.',
    },
  );
}

const { keyMinutes } = limits.deviceSignIn;

export const approveDeviceSignIn = defineAction({
  name: 'ApproveDeviceSignIn',
  title: 'Approve a sign-in',
  description:
    'Gives the machine that shows the code a key of yours. Approve only a code that you have asked for yourself: ' +
    'whoever holds the key acts as you.',
  role: 'member',
  command: 'sign-ins approve',
  argument: 'code',
  input: z.strictObject({
    code: userCode,
    scopes: z
      .array(z.enum(scopes))
      .min(1)
      .max(scopes.length)
      .optional()
      .describe('What the key may be used for; all that you may do when left out.'),
    expires_in_minutes: integerWithDefault('Minutes until the key expires', {
      ...{ min: 1, max: keyMinutes, default: keyMinutes },
    }),
  }),
  output: deviceSignInOutput.extend({ approved: z.literal(true) }),
  async handler({ code, scopes: wanted, expires_in_minutes: minutes }, { services, caller }) {
    const grant = { scopes: wanted ? [...new Set(wanted)] : null, keyMinutes: minutes };
    const signIn = await services.deviceSignIns.approve(caller, code, grant);
    return { ...toDeviceSignInView(signIn), approved: true as const };
  },
});

export const denyDeviceSignIn = defineAction({
  name: 'DenyDeviceSignIn',
  title: 'Refuse a sign-in',
  description: 'Refuses the machine that shows the code; it gets no key.',
  role: 'member',
  command: 'sign-ins deny',
  argument: 'code',
  input: z.strictObject({ code: userCode }),
  output: deviceSignInOutput.extend({ denied: z.literal(true) }),
  async handler({ code }, { services }) {
    const signIn = await services.deviceSignIns.deny(code);
    return { ...toDeviceSignInView(signIn), denied: true as const };
  },
});

export const getDeviceSignIn = defineAction({
  name: 'GetDeviceSignIn',
  title: "Show a machine's sign-in",
  description:
    'Shows the machine that waits under a code of `sandhaven login`: what it calls itself, and its address.',
  role: 'member',
  command: 'sign-ins show',
  argument: 'code',
  input: z.strictObject({ code: userCode }),
  output: deviceSignInOutput,
  handler: async ({ code }, { services }) => toDeviceSignInView(await services.deviceSignIns.find(code)),
});

export const listSignIns = defineAction({
  name: 'ListSignIns',
  title: 'List sign-ins',
  description: 'Lists the browsers that are signed in: your own or, for an admin, everybody’s.',
  role: 'member',
  command: 'sign-ins list',
  argument: 'user',
  input: z.strictObject({
    user: user.optional().describe('Only those of this user: user ID or email.'),
    ...pageParameters,
  }),
  output: z.looseObject({ sign_ins: z.array(signInOutput), ...pageOutput }),
  async handler({ user, page, page_size: pageSize }, { services, caller }) {
    const all = user === undefined && caller.role === 'admin';
    const owner = all ? null : (await services.keys.ownerOf(caller, user ?? caller.id)).id;
    const { signIns, totalCount } = await services.signIns.list(owner, { page, pageSize });
    const views = signIns.map((signIn) => toSignInView(signIn, caller));
    return { sign_ins: views, ...pageOf(totalCount, { page, page_size: pageSize }) };
  },
  rows: ({ sign_ins }) =>
    sign_ins.map(({ sign_in_id, user_id, made_by, current, created_at, last_used_at, expires_at }) => ({
      'sign-in': sign_in_id,
      user: user_id,
      by: made_by,
      current,
      created: created_at,
      used: last_used_at,
      expires: expires_at,
    })),
});

export const revokeOtherSignIns = defineAction({
  name: 'RevokeOtherSignIns',
  title: 'Revoke all other sign-ins',
  description:
    'Signs all your browsers out but the one that asks or, for an admin, all of another user’s. Ends what they have open at once.',
  role: 'member',
  command: 'sign-ins revoke-others',
  argument: 'user',
  input: z.strictObject({
    user: user.optional().describe('User ID or email (default: yourself).'),
  }),
  output: z.looseObject({ user_id: z.string(), revoked: z.int() }),
  async handler({ user }, { services, caller }) {
    const { id } = await services.keys.ownerOf(caller, user ?? caller.id);
    return { user_id: id, revoked: await services.signIns.revokeOthers(caller, id) };
  },
});

export const revokeSignIn = defineAction({
  name: 'RevokeSignIn',
  title: 'Revoke a sign-in',
  description: 'Signs a browser out: one of yours or, for an admin, any. Ends what it has open at once.',
  role: 'member',
  command: 'sign-ins revoke',
  argument: 'sign_in',
  input: z.strictObject({
    sign_in: textWithoutNul().min(1).max(100).describe('ID of the sign-in, as ListSignIns shows it.'),
  }),
  output: signInOutput.extend({ revoked: z.literal(true) }),
  async handler({ sign_in: id }, { services, caller }) {
    const view = toSignInView(await services.signIns.revoke(caller, id), caller);
    return { ...view, revoked: true as const };
  },
});
