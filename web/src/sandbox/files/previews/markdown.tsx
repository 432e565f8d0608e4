/** Shows Markdown as elements of the page. HTML in it stays text, and images are named, not fetched. */
import type { Token, Tokens } from 'marked';
import { createElement, type ReactNode, useEffect, useState } from 'react';
import { Loading } from '../../../parts/loading.tsx';
import classes from '../files.module.css';
import { safeHref } from '../reading/links.ts';
import { markdownTokens } from './markdown-tokens.ts';

const DEEPEST = 20;

export default function Markdown({ text }: { text: string }) {
  const [parsed, setParsed] = useState<{ text: string; tokens: Token[] | null } | null>(null);
  useEffect(() => {
    const leaving = new AbortController();
    void markdownTokens(text, leaving.signal).then((tokens) => {
      if (!leaving.signal.aborted) setParsed({ text, tokens });
    });
    return () => leaving.abort();
  }, [text]);
  if (parsed === null) return <Loading what="the preview" lines={3} />;
  if (parsed.tokens === null) return <Unformatted text={parsed.text} />;
  return <div className={`${classes['markdown']} break`}>{shown(parsed.tokens, 0)}</div>;
}

function Unformatted({ text }: { text: string }) {
  return (
    <>
      <p className="dimmed small">This Markdown is too long or too complex to be formatted. Its text:</p>
      <pre className="break">{text}</pre>
    </>
  );
}

function shown(tokens: readonly Token[] | undefined, depth: number): ReactNode[] {
  if (depth > DEEPEST) return [(tokens ?? []).map(({ raw }) => raw).join('')];
  return (tokens ?? []).map((token, index) => element(token, index, depth + 1));
}

function element(token: Token, key: number, depth: number): ReactNode {
  switch (token.type) {
    case 'heading': {
      // The page has the first two levels.
      const { depth: level, tokens } = token as Tokens.Heading;
      return createElement(`h${Math.min(level + 2, 6)}`, { key }, ...shown(tokens, depth));
    }
    case 'paragraph':
      return <p key={key}>{shown(token.tokens, depth)}</p>;
    case 'blockquote':
      return <blockquote key={key}>{shown(token.tokens, depth)}</blockquote>;
    case 'list': {
      const { ordered, items } = token as Tokens.List;
      return createElement(
        ordered ? 'ol' : 'ul',
        { key },
        ...items.map((item, at) => <li key={at}>{shown(item.tokens, depth)}</li>),
      );
    }
    case 'table':
      return <Table key={key} token={token as Tokens.Table} depth={depth} />;
    case 'code':
      return (
        <pre key={key}>
          <code>{(token as Tokens.Code).text}</code>
        </pre>
      );
    case 'hr':
      return <hr key={key} />;
    case 'br':
      return <br key={key} />;
    case 'space':
    case 'def':
      return null;
    default:
      return inline(token, key, depth);
  }
}

function inline(token: Token, key: number, depth: number): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong key={key}>{shown(token.tokens, depth)}</strong>;
    case 'em':
      return <em key={key}>{shown(token.tokens, depth)}</em>;
    case 'del':
      return <del key={key}>{shown(token.tokens, depth)}</del>;
    case 'codespan':
      return <code key={key}>{(token as Tokens.Codespan).text}</code>;
    case 'image':
      return <span key={key} className="dimmed">{`[image: ${(token as Tokens.Image).text}]`}</span>;
    case 'link': {
      const href = safeHref((token as Tokens.Link).href);
      if (href === null) return <span key={key}>{shown(token.tokens, depth)}</span>;
      return (
        <a key={key} href={href} target="_blank" rel="noopener noreferrer nofollow">
          {shown(token.tokens, depth)}
        </a>
      );
    }
    case 'text':
    case 'escape':
    case 'checkbox':
      return token.type === 'text' && token.tokens
        ? shown(token.tokens, depth)
        : ((token as Tokens.Text).text ?? token.raw);
    default:
      // HTML, and whatever a newer version knows.
      return token.raw;
  }
}

function Table({ token, depth }: { token: Tokens.Table; depth: number }) {
  return (
    <table>
      <thead>
        <tr>
          {token.header.map((cell, at) => (
            <th key={at}>{shown(cell.tokens, depth)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {token.rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, column) => (
              <td key={column}>{shown(cell.tokens, depth)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
