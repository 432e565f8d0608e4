/** The way to each screen. */
import { Link } from '@tanstack/react-router';
import { Icon, type IconName } from '../parts/icon.tsx';
import classes from './shell.module.css';
import { useSignedIn } from './signed-in.ts';

interface Entry {
  to: '/sandboxes' | '/snapshots' | '/activity' | '/people' | '/connect' | '/documents' | '/health';
  icon: IconName;
  label: string;
}

export function Navigation({ onNavigate }: { onNavigate?: () => void }) {
  const { role } = useSignedIn();
  const entries: Entry[] = [
    { to: '/sandboxes', icon: 'boxes', label: 'Sandboxes' },
    { to: '/snapshots', icon: 'camera', label: 'Snapshots' },
    { to: '/documents', icon: 'database', label: 'Documents' },
    { to: '/activity', icon: 'activity', label: 'Activity' },
    { to: '/people', icon: 'people', label: role === 'admin' ? 'People and keys' : 'Your keys' },
    { to: '/connect', icon: 'plug', label: 'Connect' },
    { to: '/health', icon: 'heart', label: 'Health' },
  ];
  return (
    <nav aria-label="Screens" className={classes['nav']}>
      {entries.map(({ to, icon, label }) => (
        <Link
          key={to}
          to={to}
          className={classes['navLink']}
          {...(onNavigate ? { onClick: onNavigate } : {})}
        >
          <Icon name={icon} size={17} />
          {label}
        </Link>
      ))}
    </nav>
  );
}
