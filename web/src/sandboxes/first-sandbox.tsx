/** The first visit: a language, a size, and the first sandbox is there. */
import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Page } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { useSignedIn } from '../shell/signed-in.ts';
import { CreateDialog } from './create/create-dialog.tsx';
import type { Language } from './create/form.ts';
import { useCreate } from './create/use-create.ts';
import classes from './sandboxes.module.css';
import { WhoseSwitch } from './whose-switch.tsx';

const languages: { value: Language; label: string; about: string }[] = [
  { value: 'python', label: 'Python', about: '3.13 with numpy, pandas, matplotlib' },
  { value: 'typescript', label: 'TypeScript', about: 'Node 24, types stripped' },
  { value: 'javascript', label: 'JavaScript', about: 'Node 24 with npm' },
];

const sizes = [
  { label: 'Small', about: '1 vCPU, 2 GB, 10 GB of disk', cpu: 1, memory_gb: 2, disk_gb: 10 },
  { label: 'Medium', about: '2 vCPUs, 4 GB, 20 GB of disk', cpu: 2, memory_gb: 4, disk_gb: 20 },
  { label: 'Large', about: '4 vCPUs, 8 GB, 50 GB of disk', cpu: 4, memory_gb: 8, disk_gb: 50 },
];

export function FirstSandbox() {
  const navigate = useNavigate();
  const { role } = useSignedIn();
  const [language, setLanguage] = useState<Language>('python');
  const [size, setSize] = useState('Medium');
  const [open, setOpen] = useState(false);
  const { create, busy, error, progress } = useCreate(
    ({ id }) => void navigate({ to: '/sandboxes/$id', params: { id } }),
  );
  const start = () => {
    const {
      label: _,
      about: __,
      ...resources
    } = sizes.find(({ label }) => label === size) ?? { label: '', about: '' };
    create({ language, ...resources });
  };
  return (
    <Page
      title="Your first sandbox"
      tab="Sandboxes"
      actions={role === 'admin' && <WhoseSwitch whose="own" />}
      about="An isolated Linux machine with a disk of its own. It stops by itself after 15 minutes without work; its files stay."
    >
      <div className={classes['first']}>
        <Choices
          title="Language of RunCode"
          choices={languages.map(({ value, ...one }) => ({ ...one, key: value }))}
          chosen={language}
          choose={(key) => setLanguage(key as Language)}
        />
        <Choices
          title="Size"
          choices={sizes.map(({ label, about }) => ({ key: label, label, about }))}
          chosen={size}
          choose={setSize}
        />
        {error !== null && <ProblemPanel title="No sandbox was made" error={error} />}
        <div className="row">
          <Button size="sm" loading={busy} onClick={start}>
            Create the sandbox
          </Button>
          <Button size="sm" variant="default" onClick={() => setOpen(true)}>
            More options
          </Button>
          <span className="dimmed" role="status">
            {progress}
          </span>
        </div>
        <p className="dimmed">
          Sandboxes that an agent makes appear here too: <Link to="/connect">connect an agent</Link>.
        </p>
      </div>
      <CreateDialog opened={open} close={() => setOpen(false)} />
    </Page>
  );
}

interface ChoicesProps {
  title: string;
  choices: { key: string; label: string; about: string }[];
  chosen: string;
  choose(key: string): void;
}

function Choices({ title, choices, chosen, choose }: ChoicesProps) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <div className={classes['choices']}>
        {choices.map(({ key, label, about }) => (
          <button
            key={key}
            type="button"
            className={classes['choice']}
            aria-pressed={key === chosen}
            onClick={() => choose(key)}
          >
            <strong>{label}</strong>
            <span className="dimmed small">{about}</span>
          </button>
        ))}
      </div>
    </section>
  );
}
