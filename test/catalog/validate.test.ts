/** What refusals say, and the rules that no schema can state. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findTool } from '../../src/catalog/call.ts';
import { validateInput } from '../../src/catalog/validate.ts';
import { SandhavenError } from '../../src/model/errors.ts';
import { processorMsOf } from '../support/processor-time.ts';

function accept(tool: string, parameters: unknown): Record<string, unknown> {
  return validateInput(findTool(`Sandbox.${tool}`).input, parameters);
}

function refuse(tool: string, parameters: unknown): SandhavenError {
  try {
    accept(tool, parameters);
  } catch (error) {
    if (error instanceof SandhavenError) return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(parameters)} was accepted`);
}

describe('a refusal of arguments', () => {
  it.each([
    ['CreateSandbox', { cpu: 17 }, 'cpu', 'cpu must be at most 16; 17 was given.'],
    ['CreateSandbox', { cpu: 0 }, 'cpu', 'cpu must be at least 1; 0 was given.'],
    ['CreateSandbox', { cpu: 2.5 }, 'cpu', 'cpu must be an integer; 2.5 was given.'],
    ['CreateSandbox', { cpu: '2' }, 'cpu', 'cpu must be an integer; "2" was given.'],
    [
      'CreateSandbox',
      { language: 'ruby' },
      'language',
      'language must be one of python, typescript, javascript; "ruby" was given.',
    ],
    ['CreateSandbox', { labels: '{}' }, 'labels', 'labels must be a JSON object; "{}" was given.'],
    ['CreateSandbox', { labels: { team: 5 } }, 'labels.team', 'labels.team must be a string; 5 was given.'],
    ['GetSandbox', {}, 'sandbox', 'sandbox is required.'],
    ['GetSandbox', { sandbox: null }, 'sandbox', 'sandbox is required.'],
    [
      'CreateSandbox',
      { labels: { team: null } },
      'labels.team',
      'labels.team must be a string; null was given.',
    ],
    [
      'GitAdd',
      { sandbox: 'a', path: 'r', files: ['a', 5] },
      'files',
      'files[1] must be a string; 5 was given.',
    ],
    ['CreateSandbox', { env_vars: { 'a[0]': 5 } }, 'env_vars.a[0]', 'env_vars.a[0] must be a string.'],
    [
      'CreateFolder',
      { path: 'a', mode: '999' },
      'mode',
      'mode must be 3 or 4 octal digits, such as \'755\'; "999" was given.',
    ],
  ])('[WIRE-ARGS-02] [WIRE-ARGS-03] [WIRE-ARGS-04] %s %j', (tool, parameters, parameter, detail) => {
    const error = refuse(tool, parameters);
    expect(error.message).toBe(detail);
    expect(error.fields.parameter).toBe(parameter);
  });

  it('[WIRE-PREVIEW-02] ignores the life of a signed URL without signed, but for its type', () => {
    const asked = { sandbox: 'x', port: 80 };
    for (const seconds of [0, -1, 2 ** 50]) {
      expect(accept('GetPortPreviewUrl', { ...asked, expires_in_seconds: seconds })).toMatchObject({
        signed: false,
      });
    }
    expect(refuse('GetPortPreviewUrl', { ...asked, expires_in_seconds: '60' }).message).toBe(
      'expires_in_seconds must be an integer; "60" was given.',
    );
    expect(refuse('GetPortPreviewUrl', { ...asked, signed: true, expires_in_seconds: 0 }).message).toBe(
      'expires_in_seconds must be at least 1; 0 was given.',
    );
  });

  it('names every parameter at fault, and first one that does not exist', () => {
    const error = refuse('RunCommand', { comand: 'ls', timeout_seconds: 0 });
    expect(error.message).toBe(
      'There is no parameter "comand". command is required. timeout_seconds must be at least 1; 0 was given.',
    );
    expect(error.fields.parameter).toBe('comand');
    expect(error.fields.hint).toContain('Did you mean command?');
  });

  it.each([
    ['memory', 'memory_gb'],
    ['memoryGb', 'memory_gb'],
    ['lables', 'labels'],
    ['env', 'env_vars'],
    ['disk', 'disk_gb'],
    ['autoStopMinutes', 'auto_stop_minutes'],
  ])('[WIRE-ARGS-01] suggests for %s the parameter %s', (given, meant) => {
    expect(refuse('CreateSandbox', { [given]: 1 }).fields.hint).toContain(`Did you mean ${meant}?`);
  });

  it('suggests nothing where nothing is near', () => {
    expect(refuse('WhoAmI', { sandbox: 'x' }).fields.hint).toBe('It takes no parameters.');
    expect(refuse('CreateSandbox', { qqqq: 1 }).fields.hint).not.toContain('Did you mean');
  });

  it('never repeats values of env_vars, env, content, code and command', () => {
    const secret = 'hunter2';
    const calls: [string, object][] = [
      ['CreateSandbox', { env_vars: { KEY: [secret] } }],
      ['CreateSandbox', { env_vars: { 'not a key': secret } }],
      ['CreateSandbox', { env_vars: secret }],
      ['RunCommand', { command: `${secret}\0` }],
      ['RunCommand', { command: 'ls', env: { A: `${secret}\0` } }],
      ['WriteFile', { path: 'a', content: [secret] }],
      ['RunCode', { code: { text: secret } }],
    ];
    for (const [tool, parameters] of calls) {
      const error = refuse(tool, parameters);
      expect(JSON.stringify([error.message, error.fields])).not.toContain(secret);
    }
  });

  it('shortens what it repeats', () => {
    const error = refuse('CreateSandbox', { language: 'x'.repeat(100_000) });
    expect(error.message.length).toBeLessThan(250);
    expect(refuse('CreateSandbox', { ['x'.repeat(100_000)]: 1 }).message.length).toBeLessThan(250);
  });

  it('takes less than 100 ms for as many faults as a body has room for, and looks at no longer parameter', () => {
    const entries = (length: number) =>
      Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, index]));
    for (const parameters of [entries(5_000), { labels: entries(4_096) }, { labels: entries(200_000) }]) {
      expect(processorMsOf(() => refuse('CreateSandbox', parameters))).toBeLessThan(100);
    }
  });
});

describe('rules between parameters', () => {
  it('[SBX-CREATE-08] snapshot and image exclude each other', () => {
    const error = refuse('CreateSandbox', { snapshot: 'base', image: 'debian:13' });
    expect(error.fields.parameter).toBe('snapshot');
    expect(error.message).toContain('mutually exclusive');
    accept('CreateSandbox', { snapshot: 'base' });
    accept('CreateSandbox', { image: 'debian:13' });
  });

  it('[SBX-RESIZE-01] [WIRE-RESIZE-01] [WIRE-AUTO-04] something must be there to change', () => {
    for (const tool of ['ResizeSandbox', 'ConfigureSandboxAuto']) {
      expect(refuse(tool, { sandbox: 'a' }).message).toContain('nothing to change');
    }
  });
});

describe('names, paths and maps', () => {
  it.each(['a', 'Demo 1', 'a.b_c-d', '0', 'x'.repeat(63), ' ', 'SB_1', 'sb-1'])(
    '[WIRE-BOX-03] the name %j is fine',
    (name) => {
      expect(accept('CreateSandbox', { name })['name']).toBe(name);
    },
  );

  it.each(['', 'x'.repeat(64), 'sb_', 'sb_demo', 'a/b', 'ä', 'a\n', 'a\0', '../x', 'a:b', '😀'])(
    '[WIRE-BOX-03] the name %j is refused',
    (name) => {
      expect(refuse('CreateSandbox', { name }).fields.parameter).toBe('name');
    },
  );

  it.each(['A', '_', 'a1_B', 'PATH'])('[WIRE-BOX-13] the env key %s is fine', (key) => {
    accept('CreateSandbox', { env_vars: { [key]: 'v' } });
    accept('RunCommand', { command: 'true', env: { [key]: 'v' } });
  });

  it.each(['', '1A', 'A-B', 'A B', 'A=B', 'Ä', 'A\n', 'A\0'])(
    '[WIRE-BOX-13] the env key %j is refused',
    (key) => {
      expect(refuse('CreateSandbox', { env_vars: { [key]: 'v' } }).fields.parameter).toMatch(/^env_vars/);
      expect(refuse('RunCommand', { command: 'true', env: { [key]: 'v' } }).fields.parameter).toMatch(/^env/);
    },
  );

  it('a key __proto__ changes nothing but what it names', () => {
    const raw = JSON.parse('{"labels":{"__proto__":"x","a":"b"}}');
    const { labels } = accept('CreateSandbox', raw) as { labels: Record<string, string> };
    expect(Object.getPrototypeOf(labels)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('bounds paths in the bytes that they have in the sandbox', () => {
    // Each stands for one byte that is not UTF-8, whatever it takes itself.
    accept('ReadFile', { path: '\uf7ff'.repeat(4_095) });
    refuse('ReadFile', { path: '\uf7ff'.repeat(4_096) });
    refuse('ReadFile', { path: '\ud800' });
    for (const path of ['..', '/etc/passwd', 'a\nb', '-rf', ' ', '~', 'ä', '*']) accept('ReadFile', { path });
  });

  it('a command is valid Unicode without NUL', () => {
    for (const command of ['echo \0', '\udfff']) {
      expect(refuse('RunCommand', { command }).fields.parameter).toBe('command');
    }
  });

  it('[WIRE-FILES-17] a mode is 3 or 4 octal digits', () => {
    for (const mode of ['755', '0755', '1777', '000']) accept('CreateFolder', { path: 'a', mode });
    for (const mode of ['75', '07555', '778', 'rwx', '', '0o755', ' 755', 755, '-755', '755\n']) {
      expect(refuse('CreateFolder', { path: 'a', mode }).fields.parameter).toBe('mode');
    }
  });

  it('texts of 24 MB are checked in less than 100 ms, whatever is in them', () => {
    for (const parameters of [
      { path: 'a', content: 'a '.repeat(12_000_000) },
      { path: 'a', content: `${'a '.repeat(11_999_999)}\ud800` },
      { path: `${'a'.repeat(23_999_999)}\uf780`, content: '' },
    ]) {
      // In time of the processor, which others on the machine do not lengthen.
      const times = [1, 2, 3].map(() => {
        const begun = process.cpuUsage();
        try {
          accept('WriteFile', parameters);
        } catch (error) {
          if (!(error instanceof SandhavenError)) throw error;
        }
        const { user, system } = process.cpuUsage(begun);
        return (user + system) / 1_000;
      });
      expect(Math.min(...times)).toBeLessThan(100);
    }
  });

  it('a content is valid Unicode', () => {
    refuse('WriteFile', { path: 'a', content: 'x\ud800' });
  });

  it('takes or refuses any JSON without a defect', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('CreateSandbox', 'RunCommand', 'ReadFile', 'WriteFile'),
        fc.jsonValue(),
        (tool, raw) => {
          try {
            accept(tool, raw);
          } catch (error) {
            expect(error).toBeInstanceOf(SandhavenError);
            expect((error as SandhavenError).message).toMatch(/\.$/);
          }
        },
      ),
    );
  });
});
