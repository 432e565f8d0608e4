/** Builds the page into dist/, and serves it for development in front of a running service. */
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { EARLY, firstRoute } from './build/first-route.ts';
import { firstScreen } from './build/first-screen.ts';
import { stylesWhole } from './build/styles-whole.ts';
import { themeVariables } from './build/theme-variables.ts';

const sdk = join(import.meta.dirname, '..', 'sdk', 'src', 'index.ts');

/** Few files for what every screen has; what one screen needs alone stays with it. */
const chunks = [
  {
    name: 'libraries',
    test: /node_modules\/(?:react|react-dom|scheduler|@mantine|@tanstack|@floating-ui|clsx)/,
  },
  { name: 'shared', test: /\/(?:web\/src\/(?:parts|format|service|shell)|sdk\/src)\// },
];

export default defineConfig({
  plugins: [react(), themeVariables(), firstRoute(), firstScreen(), stylesWhole()],
  resolve: { alias: { '@sandhaven/sdk': sdk } },
  build: {
    target: 'es2023',
    // No data: URL is in the page's policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      input: ['index.html', EARLY],
      output: { codeSplitting: { groups: chunks } },
    },
  },
  server: { proxy: { '^/(v1|mcp|healthz|readyz|openapi.json)': serviceBehind() } },
});

/** SANDBOX_API_URL and SANDBOX_API_KEY name the service and a key of it, which the browser never sees. */
function serviceBehind() {
  const { SANDBOX_API_URL: target = 'http://127.0.0.1:7420', SANDBOX_API_KEY: key } = process.env;
  return {
    target,
    changeOrigin: true,
    headers: { origin: target, ...(key ? { authorization: `Bearer ${key}` } : {}) },
  };
}
