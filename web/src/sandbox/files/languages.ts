/** The grammar of a file by the ending of its name; each is loaded when it is first needed. */
import { StreamLanguage } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { endingOf } from './reading/paths.ts';

type Load = () => Promise<Extension>;

const script =
  (options: { jsx?: boolean; typescript?: boolean }): Load =>
  async () =>
    (await import('@codemirror/lang-javascript')).javascript(options);
const json: Load = async () => (await import('@codemirror/lang-json')).json();
const yaml: Load = async () => (await import('@codemirror/lang-yaml')).yaml();
const markdown: Load = async () => (await import('@codemirror/lang-markdown')).markdown();
const html: Load = async () => (await import('@codemirror/lang-html')).html();
const shell: Load = async () =>
  StreamLanguage.define((await import('@codemirror/legacy-modes/mode/shell')).shell);
const toml: Load = async () =>
  StreamLanguage.define((await import('@codemirror/legacy-modes/mode/toml')).toml);

const languages = new Map<string, Load>([
  ['py', async () => (await import('@codemirror/lang-python')).python()],
  ['js', script({ jsx: true })],
  ['mjs', script({})],
  ['cjs', script({})],
  ['jsx', script({ jsx: true })],
  ['ts', script({ typescript: true })],
  ['tsx', script({ typescript: true, jsx: true })],
  ['json', json],
  ['jsonl', json],
  ['ipynb', json],
  ['yaml', yaml],
  ['yml', yaml],
  ['md', markdown],
  ['html', html],
  ['svg', html],
  ['css', async () => (await import('@codemirror/lang-css')).css()],
  ['rs', async () => (await import('@codemirror/lang-rust')).rust()],
  ['sh', shell],
  ['bash', shell],
  ['toml', toml],
]);

export async function languageOf(name: string): Promise<Extension | null> {
  return (await languages.get(endingOf(name))?.()) ?? null;
}
