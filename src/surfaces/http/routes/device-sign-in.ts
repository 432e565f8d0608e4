/**
 * /v1/sign-in/device: POST begins the sign-in of a machine without a browser; POST …/answer gives it its key once a user has
 * approved it on the page. Nobody has signed in yet, so both are open, and counted by network.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { text } from '../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../catalog/validate.ts';
import type { DeviceResult } from '../../../control/people/device-sign-ins.ts';
import type { Services } from '../../../control/services.ts';
import { auditActions } from '../../../model/audit.ts';
import { limits } from '../../../model/limits.ts';
import type { Caller } from '../../../model/user.ts';
import { parseSmallBody, takeSmallBodies } from '../base/json-body.ts';
import { subjectOf } from '../base/origin.ts';
import { Attempts } from '../sign-in/network-rate.ts';

const { machineChars, pauseMs, questions } = limits.deviceSignIn;

const beginning = z.strictObject({
  machine: text()
    .min(1)
    .max(machineChars)
    .regex(/^[^\p{C}]+$/u, 'must not contain control characters'),
});
const question = z.strictObject({ device_code: z.string().min(1).max(limits.signIn.secretChars) });

export function addDeviceSignInRoutes(app: FastifyInstance, services: Services): void {
  const { deviceSignIns, audit } = services;
  const beginnings = new Attempts();
  const asked = new Attempts(questions);

  app.register(async (open) => {
    takeSmallBodies(open);
    open.post(
      '/v1/sign-in/device',
      {
        config: { open: true },
        onRequest: async ({ arrival }) => beginnings.count(arrival.client),
      },
      async ({ body, arrival }) => {
        const { machine } = validateInput(beginning, parseSmallBody(body, '{"machine": "NAME"}'));
        const offer = await deviceSignIns.begin(machine, arrival.client);
        return {
          device_code: offer.deviceCode,
          user_code: offer.signIn.userCode,
          verification_uri: offer.url,
          verification_uri_complete: offer.urlWithCode,
          expires_in: limits.deviceSignIn.codeMs / 1_000,
          interval: pauseMs / 1_000,
        };
      },
    );
    open.post(
      '/v1/sign-in/device/answer',
      { config: { open: true }, onRequest: async ({ arrival }) => asked.count(arrival.client) },
      async (request, reply) => {
        const given = validateInput(question, parseSmallBody(request.body, '{"device_code": "…"}'));
        const result = await deviceSignIns.fetch(given.device_code);
        if (result.status === 'pending') return reply.code(202).send({ status: 'pending' });
        request.caller = callerOf(result);
        return audit.call(subjectOf(request, auditActions.deviceSignIn), async () => viewOf(result));
      },
    );
  });
}

type Approved = Extract<DeviceResult, { status: 'approved' }>;

function callerOf({ owner, key }: Approved): Caller {
  const { id, name, email, role } = owner;
  return { ...{ id, name, email, role }, keyId: key.id, keyExpiresAt: key.expiresAt, scopes: key.scopes };
}

function viewOf({ apiKey, key, owner }: Approved) {
  return {
    ...{ status: 'approved', api_key: apiKey, key_id: key.id, user_id: owner.id, name: owner.name },
    scopes: key.scopes && [...key.scopes],
    expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
  };
}
