/** Colours of the emulator, from the page's theme; xterm raises the contrast of those that programs choose. */
import type { ITheme } from '@xterm/xterm';

const light: ITheme = {
  ...{ black: '#1b1f24', red: '#b3261e', green: '#0b6b3a', yellow: '#7a5200' },
  ...{ blue: '#1a4fa3', magenta: '#8a1f6a', cyan: '#08625f', white: '#59616b' },
  ...{ brightBlack: '#59616b', brightRed: '#c02828', brightGreen: '#0f8a4d', brightYellow: '#8a4b00' },
  ...{ brightBlue: '#2962c4', brightMagenta: '#a3308a', brightCyan: '#0b7a75', brightWhite: '#1b1f24' },
  selectionBackground: '#9fd8d1',
};

const dark: ITheme = {
  ...{ black: '#3b4048', red: '#ff8a80', green: '#7fd8a4', yellow: '#f0b45a' },
  ...{ blue: '#8fb9ff', magenta: '#f09bd3', cyan: '#6dd3c8', white: '#dcdee2' },
  ...{ brightBlack: '#8f96a0', brightRed: '#ffb3ad', brightGreen: '#a4e8c0', brightYellow: '#ffd08a' },
  ...{ brightBlue: '#b5d1ff', brightMagenta: '#ffc2e6', brightCyan: '#9fe3da', brightWhite: '#ffffff' },
  selectionBackground: '#31605c',
};

export function coloursOf(scheme: 'light' | 'dark'): ITheme {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(name).trim();
  const background = value('--surface');
  return {
    ...(scheme === 'dark' ? dark : light),
    background,
    foreground: value('--mantine-color-text'),
    cursor: value('--accent-text'),
    cursorAccent: background,
  };
}
