/** The frame of a screen: its heading, what it is for, and its first actions. */
import type { ReactNode } from 'react';
import { useEffect } from 'react';
import classes from './parts.module.css';

interface PageProps {
  title: string;
  /** Text of the tab in the browser; the title without it. */
  tab?: string;
  about?: ReactNode;
  actions?: ReactNode;
  /** The content scrolls by itself, in the height that is left. */
  fill?: boolean;
  children: ReactNode;
}

export function Page({ title, tab = title, about, actions, fill = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${tab} · Sandhaven`;
  }, [tab]);
  return (
    <div className={classes['page']} data-fill={fill || undefined}>
      <header className={classes['head']}>
        <div className={classes['headText']}>
          <h1 className="break">{title}</h1>
          {about && <div className="dimmed">{about}</div>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A part of a screen, with its own heading. */
export function Panel({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className={classes['panel']} aria-label={title}>
      <header className={classes['panelHead']}>
        <h2>{title}</h2>
        {actions && <div className="row">{actions}</div>}
      </header>
      <div className={classes['panelBody']}>{children}</div>
    </section>
  );
}

/** Names and values. */
export function Facts({ facts }: { facts: [name: string, value: ReactNode][] }) {
  return (
    <dl className={classes['facts']}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="break">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
