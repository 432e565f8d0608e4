/** Uses up its own open files, then starts programs by every way that the engine has, and says how each answered. */
import { closeSync, openSync } from 'node:fs';
import { buildDocumentDbImage } from '../../src/runtime/images/build-image.ts';
import { runLauncher } from '../../src/runtime/oci/host/helper.ts';
import { runCommand } from '../../src/runtime/oci/network/command.ts';
import { tryProgram } from '../../src/runtime/start-program.ts';

const ways: Record<string, () => Promise<unknown>> = {
  runLauncher: () => runLauncher('/bin/true', [], { timeoutMs: 5_000, onLine() {} }),
  runCommand: () => runCommand('/bin/true', []),
  tryProgram: () => tryProgram('/bin/true', []),
  buildDocumentDbImage: () => buildDocumentDbImage(() => {}, new AbortController().signal),
};

const said: Record<string, unknown> = {};
process.on('uncaughtException', (error) => {
  said['uncaught'] = String(error);
});
const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch (error) {
  said['full'] = (error as NodeJS.ErrnoException).code;
}
for (const [name, start] of Object.entries(ways)) {
  said[name] = await start().then(
    (result) => ({ result }),
    (error: Error & { code?: string }) => ({ name: error.name, code: error.code, message: error.message }),
  );
}
await new Promise((resolve) => setTimeout(resolve, 50));
for (const fd of taken) closeSync(fd);
said['afterwards'] = await runCommand('/bin/echo', ['fine']);
// Whatever keeps the process running from here on is left over from a start that failed.
process.stdout.write(`${JSON.stringify(said)}\n`);
