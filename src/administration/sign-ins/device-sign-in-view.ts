/** View and parameter of a machine's sign-in in actions. */
import { z } from 'zod';
import { textWithoutNul } from '../../catalog/parameters/text.ts';
import type { DeviceSignIn } from '../../model/access/device-sign-ins.ts';

export const userCode = textWithoutNul()
  .min(1)
  .max(40)
  .describe('Code that the machine shows, such as BCDF-GHJK.');

export const deviceSignInOutput = z.looseObject({
  user_code: z.string(),
  /** As the machine calls itself. */
  machine: z.string(),
  /** IP address that asked. */
  address: z.string(),
  created_at: z.string(),
  expires_at: z.string(),
});

export function toDeviceSignInView(signIn: DeviceSignIn): z.output<typeof deviceSignInOutput> {
  const { userCode: code, machine, address, createdAt, expiresAt } = signIn;
  return {
    ...{ user_code: code, machine, address },
    created_at: new Date(createdAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
  };
}
