/** Files of one process share its clock: each must leave the real one, or a later file waits for ever. */
import { afterAll, expect } from 'vitest';

const { setTimeout: real } = globalThis;

afterAll(() => expect(globalThis.setTimeout, 'the clock that this file leaves').toBe(real));
