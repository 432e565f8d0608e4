/** Takes Markdown apart beside the page, which can end this when a text is made to take its time. */
import { marked, type Token } from 'marked';

addEventListener('message', ({ data }: MessageEvent<string>) => postMessage(tokensOf(data)));

/** Returns null where quotes and lists within each other take the parser's whole stack. */
function tokensOf(text: string): Token[] | null {
  try {
    return marked.lexer(text);
  } catch {
    return null;
  }
}
