/** Parses Markdown outside of the page, which can end the worker when a malicious text takes too long. */
import { marked, type Token } from 'marked';

addEventListener('message', ({ data }: MessageEvent<string>) => postMessage(tokensOf(data)));

/** Returns null where nested quotes and lists exhaust the parser's stack. */
function tokensOf(text: string): Token[] | null {
  try {
    return marked.lexer(text);
  } catch {
    return null;
  }
}
