/** Writes the theme's variables as a stylesheet at build time: the page's policy allows no <style> made by a script. */
import {
  convertCssVariables,
  DEFAULT_THEME,
  defaultCssVariablesResolver,
  mergeMantineTheme,
} from '@mantine/core';
import type { Plugin } from 'vite';
import { theme, variables } from '../src/theme.ts';

const NAME = 'virtual:theme.css';

export function themeVariables(): Plugin {
  return {
    name: 'theme-variables',
    resolveId: (id) => (id === NAME ? `\0${NAME}` : null),
    load(id) {
      if (id !== `\0${NAME}`) return null;
      const whole = mergeMantineTheme(DEFAULT_THEME, theme);
      const base = defaultCssVariablesResolver(whole);
      const own = variables(whole);
      return convertCssVariables({
        variables: { ...base.variables, ...own.variables },
        light: { ...base.light, ...own.light },
        dark: { ...base.dark, ...own.dark },
      });
    },
  };
}
