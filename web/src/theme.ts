/** The look: one accent, quiet greys with the contrast that WCAG 2.2 AA asks for, and dense controls. */
import { createTheme, type MantineColorsTuple, type MantineTheme } from '@mantine/core';

const accent: MantineColorsTuple = [
  '#e6faf7',
  '#cdf1ec',
  '#9fe3da',
  '#6dd3c8',
  '#44c3b6',
  '#25b1a5',
  '#129a90',
  '#0b7a75',
  '#08625f',
  '#064a48',
];

/** Lighter than Mantine's own in the middle, so that dimmed text keeps its contrast on a dark ground. */
const dark: MantineColorsTuple = [
  '#dcdee2',
  '#b3b8bf',
  '#989ea7',
  '#5f6670',
  '#3b4048',
  '#2b2f36',
  '#1f2227',
  '#16181c',
  '#101215',
  '#0b0c0e',
];

/** White text on its seventh shade has a contrast of 5.9. */
const red: MantineColorsTuple = [
  '#fff0f0',
  '#ffdede',
  '#ffbcbc',
  '#ff9a9a',
  '#f97f7f',
  '#ee5f5f',
  '#d93f3f',
  '#c02828',
  '#a11f1f',
  '#7f1818',
];

export const theme = createTheme({
  colors: { accent, dark, red },
  primaryColor: 'accent',
  primaryShade: 7,
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Cantarell, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '0.8125rem', sm: '0.875rem', md: '0.9375rem' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.25rem', lineHeight: '1.4' },
      h2: { fontSize: '1rem', lineHeight: '1.5' },
      h3: { fontSize: '0.875rem', lineHeight: '1.5' },
    },
  },
  components: {
    Button: { defaultProps: { size: 'xs' } },
    TextInput: { defaultProps: { size: 'xs' } },
    PasswordInput: { defaultProps: { size: 'xs' } },
    NumberInput: { defaultProps: { size: 'xs', allowDecimal: false } },
    Textarea: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { size: 'xs', checkIconPosition: 'right' } },
    Checkbox: { defaultProps: { size: 'xs' } },
    Switch: { defaultProps: { size: 'xs' } },
    SegmentedControl: { defaultProps: { size: 'xs' } },
    // Within a landmark, unlike at the end of the body.
    Portal: { defaultProps: { target: '#overlays' } },
    Menu: { defaultProps: { shadow: 'md', position: 'bottom-end', withInitialFocusPlaceholder: false } },
    // The lock of scrolling writes a <style>, which the page's policy forbids; global.css does the same.
    Modal: { defaultProps: { lockScroll: false, centered: true, overlayProps: { backgroundOpacity: 0.45 } } },
    Drawer: { defaultProps: { lockScroll: false } },
  },
});

/** Variables beside those of Mantine; build/theme-variables.ts writes all of them as a stylesheet. */
export function variables(whole: MantineTheme) {
  return {
    variables: {},
    light: {
      '--mantine-color-text': '#1b1f24',
      '--mantine-color-dimmed': '#59616b',
      '--mantine-color-placeholder': '#656d77',
      '--mantine-color-error': whole.colors.red[7],
      '--mantine-color-anchor': whole.colors.accent?.[8] ?? '',
      '--mantine-color-default-border': '#d9dde2',
      '--surface': '#f6f7f8',
      '--surface-raised': '#ffffff',
      '--line': '#e4e7ea',
      '--hover': '#eef0f2',
      '--accent-text': whole.colors.accent?.[8] ?? '',
      '--state-started': '#0f8a4d',
      '--state-stopped': '#7a828c',
      '--state-archived': '#6a5acd',
      '--state-busy': '#b26a00',
      '--state-error': whole.colors.red[7],
      '--code-keyword': '#8a1f6a',
      '--code-string': '#0b6b3a',
      '--code-number': '#8a4b00',
      '--code-name': '#1a4fa3',
      '--code-comment': '#5f6770',
    },
    dark: {
      '--mantine-color-text': '#dcdee2',
      '--mantine-color-dimmed': '#a3a9b2',
      '--mantine-color-placeholder': '#8f96a0',
      '--mantine-color-error': '#ff9a9a',
      '--mantine-color-anchor': whole.colors.accent?.[3] ?? '',
      '--surface': '#101215',
      '--surface-raised': '#1a1d21',
      '--line': '#2b2f36',
      '--hover': '#212429',
      '--accent-text': whole.colors.accent?.[3] ?? '',
      '--state-started': '#3fca86',
      '--state-stopped': '#8f96a0',
      '--state-archived': '#a79bff',
      '--state-busy': '#f0b45a',
      '--state-error': '#ff9a9a',
      '--code-keyword': '#f09bd3',
      '--code-string': '#7fd8a4',
      '--code-number': '#f0b45a',
      '--code-name': '#8fb9ff',
      '--code-comment': '#979fa9',
    },
  };
}
