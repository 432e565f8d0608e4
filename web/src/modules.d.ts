/// <reference types="vite/client" />

/** The stylesheet that build/theme-variables.ts makes. */
declare module 'virtual:theme.css';
