/** Of docs/contract.md, "SSH, ports, previews". */
import { optional, required, tool } from '../notation.ts';

export const access = [
  tool('Sandbox.CreateSshAccess', {
    sandbox: required.string,
    expires_in_minutes: optional.integer({ min: 0, default: 60 }),
  }),
  tool('Sandbox.ListPorts', { sandbox: optional.string }),
  tool('Sandbox.GetPortPreviewUrl', {
    sandbox: required.string,
    port: required.integer({ min: 1, max: 65_535 }),
    signed: optional.boolean({ default: false }),
    // Ignored unless signed.
    expires_in_seconds: optional.integer({ min: 1, default: 3_600, beside: { signed: true } }),
  }),
];
