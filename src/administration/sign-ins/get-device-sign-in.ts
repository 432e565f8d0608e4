/** GetDeviceSignIn: the machine that waits under a code. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { deviceSignInOutput, toDeviceSignInView, userCode } from './device-sign-in-view.ts';

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
