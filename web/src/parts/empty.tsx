/** Shows why a place is empty, and the next step. */
import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';
import classes from './parts.module.css';

export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ReactNode }) {
  return (
    <div className={classes['empty']}>
      <Icon name={icon} size={28} />
      <h2>{title}</h2>
      <div className="dimmed">{children}</div>
    </div>
  );
}
