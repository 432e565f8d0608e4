import { describe, expect, it } from 'vitest';
import { configuredRemote, parseGitRemote, withoutCredentials } from '../../../src/model/git/remote.ts';

describe('the source of a clone', () => {
  it.each([
    ['/srv/project.git', '/srv/project.git', 'project'],
    ['./project', '/workspace/project', 'project'],
    ['../srv/a b/', '/srv/a b', 'a b'],
    ['/srv/project/.git', '/srv/project/.git', 'project'],
    ['/srv/../srv/project.bundle', '/srv/project.bundle', 'project'],
    ['file:///srv/project.git', '/srv/project.git', 'project'],
    ['file://localhost/srv/project', '/srv/project', 'project'],
    ['/srv/.gitlab/project', '/srv/.gitlab/project', 'project'],
    ['/srv/a.github', '/srv/a.github', 'a.github'],
    ['/srv/-a', '/srv/-a', ''],
    ['/srv/a-', '/srv/a-', 'a-'],
    ['/srv/...git', '/srv/...git', ''],
    ['/srv/..git', '/srv/..git', ''],
    [`/${'a'.repeat(2_047)}`, `/${'a'.repeat(2_047)}`, 'a'.repeat(2_047)],
  ])('[WIRE-GIT-13] %s is the repository %s in the sandbox', (text, path, name) => {
    expect(parseGitRemote(text, '/workspace')).toEqual({ text: path, url: null, shown: path, name });
  });

  it('[WIRE-GIT-13] a URL is a remote', () => {
    const remote = parseGitRemote('https://example.org/team/project.git', '/workspace');
    expect(remote).toMatchObject({ shown: 'example.org', name: 'project', url: { scheme: 'https' } });
  });

  it.each(['/', './../..', 'file:///', 'file://host/a', 'project', '-x', '/a\nb', `/${'a'.repeat(3_000)}`])(
    '%j is none',
    (text) => {
      expect(() => parseGitRemote(text, '/')).toThrow(
        expect.objectContaining({
          code: 'invalid_argument',
          fields: expect.objectContaining({ parameter: 'url' }),
        }),
      );
    },
  );
});

describe('the configured remote of a repository', () => {
  it('[WIRE-GIT-15] is left to git when it is a path, a password or a name of ssh', () => {
    for (const text of ['/srv/a', '../a', 'https://ada:secret@example.org/a', 'work:a.git']) {
      expect(configuredRemote(text)).toMatchObject({ text, url: null });
    }
  });

  it('is shown without credentials and on one line', () => {
    expect(configuredRemote('https://ada:secret@example.org/a').shown).toBe('https://example.org/a');
    expect(withoutCredentials('git+ssh://x@h/a, at x@y')).toBe('git+ssh://h/a, at x@y');
    expect(configuredRemote('a\nb').shown).toBe('a\u{FFFD}b');
    expect(withoutCredentials("fatal: unable to access 'http://x:y@h/a/': no")).toBe(
      "fatal: unable to access 'http://h/a/': no",
    );
  });
});
