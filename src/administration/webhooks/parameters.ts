/** Parameters that several actions on webhooks take. */
import { z } from 'zod';
import { textWithoutNul } from '../../catalog/parameters/text.ts';
import { limits } from '../../model/limits.ts';
import { webhookEvents } from '../../model/webhooks/events.ts';

export const webhookId = textWithoutNul()
  .min(1)
  .max(limits.keyNameChars)
  .describe('ID of the webhook, as ListWebhooks shows it.');

export const url = textWithoutNul()
  .min(1)
  .max(limits.webhooks.urlChars)
  .describe('https URL of the receiver, at a public address; port 443 or 8443.');

export const events = z
  .array(z.enum(webhookEvents))
  .min(1)
  .max(webhookEvents.length)
  .describe('Types of the events that it hears.');

export const everybody = z
  .boolean()
  .optional()
  .describe("true: events of everybody's sandboxes, for admins.");
