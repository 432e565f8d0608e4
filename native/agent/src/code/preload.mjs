// Loaded before code that Node reads from standard input. Such code is a script, or a module once it imports
// or awaits: a module gets `require` too, and in both `require.main === module` holds, as it does for a file.
import Module, { createRequire } from 'node:module';

const main = new Module('.');
const require = createRequire(`${process.cwd()}/`);
require.main = main;
globalThis.module = main;
let current = require;
Object.defineProperty(globalThis, 'require', {
  configurable: true,
  enumerable: true,
  get: () => current,
  set: (scripts) => {
    if (typeof scripts === 'function') scripts.main = globalThis.module;
    current = scripts;
  },
});
// What processes and threads that the code starts run is not on standard input.
process.execArgv = process.execArgv.filter((flag) => !/^--(import|input-type)/.test(flag));
