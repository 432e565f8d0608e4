/** The frame around every screen: the way to the content, the navigation, the account. */
import { ActionIcon, Drawer } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Icon } from '../parts/icon.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Brand } from './brand.tsx';
import { Navigation } from './navigation.tsx';
import classes from './shell.module.css';
import { ThemeSwitch } from './theme-switch.tsx';

export function Shell() {
  const [opened, { open, close }] = useDisclosure(false);
  const content = useRef<HTMLElement>(null);
  useFocusOnArrival(content);
  return (
    <div className={classes['shell']}>
      <button type="button" className={classes['skip']} onClick={() => content.current?.focus()}>
        Skip to the content
      </button>
      <section aria-label="Navigation" className={classes['bar']}>
        <ActionIcon variant="subtle" color="gray" aria-label="Open the navigation" onClick={open}>
          <Icon name="menu" size={20} />
        </ActionIcon>
        <Brand />
        <AccountMenu compact />
      </section>
      <Drawer
        opened={opened}
        onClose={close}
        size="15rem"
        title={<Brand />}
        closeButtonProps={{ 'aria-label': 'Close the navigation' }}
      >
        <Navigation onNavigate={close} />
        <ThemeSwitch />
      </Drawer>
      <section aria-label="Navigation" className={classes['side']}>
        <div className={classes['sideTop']}>
          <Brand />
        </div>
        <Navigation />
        <div className={classes['sideEnd']}>
          <ThemeSwitch />
          <AccountMenu />
        </div>
      </section>
      <main id="content" ref={content} tabIndex={-1} className={classes['content']}>
        <Outlet />
      </main>
    </div>
  );
}

/** Screen readers continue at the new screen, not at the link that led to it. */
function useFocusOnArrival(content: { current: HTMLElement | null }): void {
  const { pathname } = useLocation();
  const before = useRef(pathname);
  useEffect(() => {
    if (before.current === pathname) return;
    const isSameThing =
      pathname.split('/')[2] !== undefined && pathname.split('/')[2] === before.current.split('/')[2];
    before.current = pathname;
    // Tabs of one thing keep the focus where it is.
    if (!isSameThing) content.current?.focus({ preventScroll: true });
  }, [pathname, content]);
}
