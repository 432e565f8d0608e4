/** The SDK's client of this page: same origin, signed in by cookie. */
import { Sandhaven } from '@sandhaven/sdk';
import { pageHeaders } from './request.ts';

export const client = new Sandhaven({ url: '', apiKey: null, headers: pageHeaders });
