/** A file's content as text, below one line that describes it. */
import { limits } from '../../model/limits.ts';

interface ReadResult {
  path: string;
  content: string;
  encoding: 'utf-8' | 'base64';
  size: number;
  total_lines: number;
  start_line: number;
  end_line: number;
}

/** Room for the added lines. */
const RESERVE_CHARS = 512;

export function readText(result: ReadResult): string {
  const { path, content, encoding, size, total_lines, start_line, end_line } = result;
  const lines = content === '' ? 'no lines' : `lines ${start_line}-${end_line}`;
  const isOpen =
    encoding === 'utf-8' && end_line === total_lines && content !== '' && !content.endsWith('\n');
  const end = isOpen ? ', no newline at its end' : '';
  const head = `[${path}: ${lines} of ${total_lines}, ${size} bytes, ${encoding}${end}]`;
  return `${head}\n${shown(result, limits.mcpTextChars - RESERVE_CHARS - path.length)}`;
}

/**
 * Returns whole lines, and the line to continue from; a single line that is too long is shortened like any other text.
 */
function shown({ content, encoding, start_line }: ReadResult, room: number): string {
  if (content.length <= room || encoding === 'base64') return content;
  const end = content.lastIndexOf('\n', room - 1);
  if (end <= 0) return content;
  const kept = content.slice(0, end + 1);
  const next = start_line + kept.split('\n').length - 1;
  return `${kept}[the text ends here; start_line ${next} goes on]`;
}
