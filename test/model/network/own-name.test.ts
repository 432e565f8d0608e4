/** Name of the service for people on its own machine. */
import { expect, it } from 'vitest';
import { keepsSignIn, originForPeople } from '../../../src/model/network/service-names.ts';

it.each([
  ['http://127.0.0.1:7420', 'http://sandhaven.localhost:7420'],
  ['http://localhost:7420/', 'http://sandhaven.localhost:7420'],
  ['http://[::1]:7420', 'http://sandhaven.localhost:7420'],
  ['https://localhost:7420', 'https://localhost:7420'],
  ['http://10.0.0.1:7420', 'http://10.0.0.1:7420'],
  ['https://sandbox.example.org', 'https://sandbox.example.org'],
])('%s is %s for people', (origin, shown) => {
  expect(originForPeople(origin)).toBe(shown);
});

it.each([
  ['https://sandbox.example.org', true],
  ['http://sandhaven.localhost:7420', true],
  ['http://localhost', true],
  ['http://127.0.0.1:7420', true],
  ['http://[::1]:7420', true],
  ['http://10.0.0.1', false],
  ['http://localhost.example.org', false],
  ['http://127.0.0.1.example.org', false],
  ['http://undefined host', false],
])('browsers keep the cookie of %s: %s', (origin, keeps) => {
  expect(keepsSignIn(origin)).toBe(keeps);
});
