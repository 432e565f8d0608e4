/** Builds two plain pages, without script or style. All external text is escaped. */
import type { User } from '../../../model/user.ts';

export interface Question {
  host: string;
  user: User;
  /** Target of the form. */
  action: string;
  state: string;
  code: string;
}

export function askPage({ host, user, action, state, code }: Question): string {
  const whose = `<strong>${escaped(user.name)}</strong> (${escaped(user.email)})`;
  return page(
    'Authorize Sandhaven?',
    `<p>The Sandhaven user ${whose} would read and write your repositories at ${escaped(host)} with this.</p>
<p>If that is not you, close this page: somebody sent you their link.</p>
<form method="post" action="${escaped(action)}">
<input type="hidden" name="state" value="${escaped(state)}">
<input type="hidden" name="code" value="${escaped(code)}">
<button type="submit">That is me: authorize</button>
</form>`,
  );
}

/** @param back Text of a link to the page; none without it. */
export function messagePage(title: string, text: string, back?: string): string {
  const link = back === undefined ? '' : `\n<p><a href="/">${escaped(back)}</a></p>`;
  return page(title, `<p>${escaped(text)}</p>${link}`);
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escaped(title)}</title></head>
<body>
<h1>${escaped(title)}</h1>
${body}
</body>
</html>
`;
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (found) => entities[found] ?? '');
}
