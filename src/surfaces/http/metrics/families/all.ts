/** All metrics of the service, in the order in which they are shown. */
import type { Family } from '../family.ts';
import { callFamilies } from './calls.ts';
import { gatewayFamilies } from './gateways.ts';
import { hostFamilies } from './host.ts';
import { sandboxFamilies } from './sandboxes.ts';
import { serviceFamilies } from './service.ts';
import { trafficFamilies } from './traffic.ts';

export const families: readonly Family[] = [
  ...callFamilies,
  ...sandboxFamilies,
  ...hostFamilies,
  ...gatewayFamilies,
  ...trafficFamilies,
  ...serviceFamilies,
];
