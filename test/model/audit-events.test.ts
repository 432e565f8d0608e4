/** Events of the service itself in the audit log. */
import { expect, it } from 'vitest';
import { serviceEvent } from '../../src/model/audit.ts';

it('an event of the service has no caller, no sandbox and no duration', () => {
  const event = {
    ...{ action: 'service.start', transport: 'service', outcome: 'ok', durationMs: 0, count: null },
    ...{ userId: null, keyId: null, sandboxId: null, clientAddress: null, requestId: null },
  };
  expect(serviceEvent('service.start')).toEqual(event);
  expect(serviceEvent('audit.gap', 3)).toEqual({ ...event, action: 'audit.gap', count: 3 });
});
