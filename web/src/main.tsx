/** Starts the page. */
import './components.css';
import '@mantine/notifications/styles.css';
import 'virtual:theme.css';
import './global.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Announcer } from './parts/announcer.tsx';
import { router } from './router.tsx';
import { signInQuery } from './service/queries.ts';
import { queryClient } from './service/query-client.ts';
import { ticket } from './shell/arrival.ts';
import { theme } from './theme.ts';

// Asked before anything is drawn; a ticket must be redeemed first.
if (ticket === null) void queryClient.prefetchQuery(signInQuery);

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      {/* Variables and classes are in stylesheets: the page's policy allows no <style> made by a script. */}
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        withCssVariables={false}
        withGlobalClasses={false}
      >
        <QueryClientProvider client={queryClient}>
          <Announcer />
          <Notifications position="bottom-right" limit={4} />
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
