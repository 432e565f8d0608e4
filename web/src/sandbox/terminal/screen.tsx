/** A terminal on the screen, with its keys and the state of its connection. */
import { useComputedColorScheme } from '@mantine/core';
import { isSandhavenError } from '@sandhaven/sdk';
import { useEffect, useRef, useState } from 'react';
import { announce } from '../../parts/announcer.tsx';
import { writeClipboard } from '../../parts/copy.tsx';
import { notifyFailed } from '../../parts/notify.tsx';
import { administration } from '../../service/administration.ts';
import { ownerHeaders } from '../../service/client.ts';
import { request } from '../../service/request.ts';
import type { ConnectionState } from './connection/state.ts';
import { StateLine } from './state-line.tsx';
import classes from './terminal.module.css';
import { Toolbar, type ToolbarActions } from './toolbar.tsx';
import { View } from './view.ts';

const SCREEN_READER = 'sandhaven-terminal-screen-reader';

interface ScreenProps {
  sandbox: string;
  terminal: string;
  /** In whose name a new one is made. */
  user: string;
  /** The terminal was made, or has ended. */
  changed(): void;
  leave(): void;
}

export default function Screen({ sandbox, terminal, user, changed, leave }: ScreenProps) {
  const scheme = useComputedColorScheme('light');
  const [screenReader, setScreenReader] = useState(() => localStorage.getItem(SCREEN_READER) === 'on');
  const [round, setRound] = useState(0);
  const [state, setState] = useState<ConnectionState>({ name: 'connecting' });
  const [note, setNote] = useState<string | null>(null);
  const [ctrl, setCtrl] = useState(false);
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<View>(null);
  const outside = useRef({ user, changed, leave, scheme });
  outside.current = { user, changed, leave, scheme };
  // biome-ignore lint/correctness/useExhaustiveDependencies: each round is a new connection
  useEffect(() => {
    if (!host.current) return undefined;
    setNote(null);
    const options = { scheme: outside.current.scheme, screenReader };
    const made = new View(host.current, { sandbox, terminal, user: outside.current.user }, options, {
      state(next) {
        setState(next);
        if (next.name === 'open' || next.name === 'ended') outside.current.changed();
        if (next.name === 'lost') announce('The connection to the terminal is lost.');
      },
      note(text) {
        setNote(text);
        announce(text);
      },
      leave: () => outside.current.leave(),
      copy: (text) => void copy(text),
      ctrl: setCtrl,
      exists: () => isListed(sandbox, terminal),
      mayConnect,
    });
    view.current = made;
    made.focus();
    return () => {
      made.remove();
      view.current = null;
    };
  }, [sandbox, terminal, screenReader, round]);
  useEffect(() => view.current?.recolour(scheme), [scheme]);
  return (
    <div className={classes['screen']}>
      <Toolbar
        actions={actionsOn(view)}
        ctrl={ctrl}
        screenReader={screenReader}
        setScreenReader={(on) => {
          localStorage.setItem(SCREEN_READER, on ? 'on' : 'off');
          setScreenReader(on);
        }}
      />
      <div ref={host} className={classes['host']} />
      <StateLine
        state={state}
        note={note}
        retry={() => view.current?.retry()}
        again={() => setRound((before) => before + 1)}
      />
    </div>
  );
}

function actionsOn(view: { current: View | null }): ToolbarActions {
  return {
    press: (keys) => view.current?.press(keys),
    arrow: (name) => view.current?.arrow(name),
    holdCtrl: (held) => view.current?.holdCtrl(held),
    copy: () => void copy(view.current?.selection() ?? ''),
    paste: () => void paste(view.current),
  };
}

async function isListed(sandbox: string, terminal: string): Promise<boolean> {
  const { terminals } = await administration.listTerminals(sandbox);
  return terminals.some((one) => one.terminal === terminal);
}

/** An ordinary request never becomes a WebSocket: the answer to it that refuses nothing else has status 426. */
async function mayConnect(path: string): Promise<void> {
  await request('GET', path, undefined, ownerHeaders).catch((error: unknown) => {
    if (!isSandhavenError(error) || error.status !== 426) throw error;
  });
}

async function copy(text: string): Promise<void> {
  if (text === '') return announce('Nothing is selected.');
  await writeClipboard(text);
  announce('Copied');
}

async function paste(view: View | null): Promise<void> {
  try {
    view?.paste(await navigator.clipboard.readText());
  } catch {
    notifyFailed('Nothing was pasted', refused);
    view?.focus();
  }
}

const refused = new Error('The browser does not let this button read the clipboard: press Ctrl+Shift+V.');
