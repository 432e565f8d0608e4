/** ApproveDeviceSignIn and DenyDeviceSignIn: the user's answer to a machine that shows a code. */
import { z } from 'zod';
import { integerWithDefault } from '../../catalog/parameters/integer.ts';
import { scopes } from '../../model/access/scopes.ts';
import { limits } from '../../model/limits.ts';
import { defineAction } from '../action.ts';
import { deviceSignInOutput, toDeviceSignInView, userCode } from './device-sign-in-view.ts';

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
