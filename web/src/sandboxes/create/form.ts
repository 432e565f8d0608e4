/** The values of the creation form, and the parameters that follow from them. */
import { readPairs } from '../../format/pairs.ts';

export const languages = ['python', 'typescript', 'javascript'] as const;
export type Language = (typeof languages)[number];
export type Source = 'base' | 'image' | 'snapshot';

/** A number field holds a text while it is being written. */
export type Field = number | string;

export interface Form {
  name: string;
  language: Language;
  source: Source;
  image: string;
  snapshot: string;
  cpu: Field;
  memory_gb: Field;
  disk_gb: Field;
  gpu: Field;
  auto_stop_minutes: Field;
  user: string;
  ephemeral: boolean;
  labels: string;
  env_vars: string;
}

export const emptyForm: Form = {
  name: '',
  language: 'python',
  source: 'base',
  image: '',
  snapshot: '',
  cpu: 2,
  memory_gb: 4,
  disk_gb: 20,
  gpu: 0,
  auto_stop_minutes: 15,
  user: '',
  ephemeral: false,
  labels: '',
  env_vars: '',
};

export const ranges = {
  cpu: { min: 1, max: 16 },
  memory_gb: { min: 1, max: 64 },
  disk_gb: { min: 1, max: 200 },
  gpu: { min: 0, max: 8 },
} as const;

export type Faults = Partial<Record<keyof Form, string>>;

const NAME = /^(?!sb_)[A-Za-z0-9 ._-]{1,63}$/;
const MOST_MINUTES = 2_147_483_647;

export function faultsOf(form: Form): Faults {
  const faults: Faults = {};
  if (form.name.trim() !== '' && !NAME.test(form.name.trim())) {
    faults.name = '1 to 63 letters, digits, spaces, dots, hyphens, underscores; not beginning with sb_.';
  }
  if (form.source === 'image' && form.image.trim() === '') faults.image = 'Name an image, such as debian:13.';
  if (form.source === 'snapshot' && form.snapshot === '') faults.snapshot = 'Choose a snapshot.';
  for (const key of ['cpu', 'memory_gb', 'disk_gb', 'gpu'] as const) {
    const { min, max } = ranges[key];
    if (!isWhole(form[key], min, max)) faults[key] = `From ${min} to ${max}.`;
  }
  if (!isWhole(form.auto_stop_minutes, 0, MOST_MINUTES)) faults.auto_stop_minutes = '0 or more; 0 is never.';
  for (const key of ['labels', 'env_vars'] as const) {
    const { fault } = readPairs(form[key]);
    if (fault !== null) faults[key] = fault;
  }
  return faults;
}

/** @param form Without faults. */
export function parametersOf(form: Form) {
  const { name, language, source, image, snapshot, ephemeral } = form;
  const user = form.user.trim();
  const labels = readPairs(form.labels).pairs;
  const envVars = readPairs(form.env_vars).pairs;
  // A snapshot has sizes of its own.
  const sizes = {
    cpu: Number(form.cpu),
    memory_gb: Number(form.memory_gb),
    disk_gb: Number(form.disk_gb),
    gpu: Number(form.gpu),
  };
  return {
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    language,
    ...(source === 'snapshot' ? { snapshot } : sizes),
    ...(source === 'image' ? { image: image.trim() } : {}),
    auto_stop_minutes: Number(form.auto_stop_minutes),
    ...(user === '' ? {} : { user }),
    ...(ephemeral ? { ephemeral } : {}),
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
    ...(Object.keys(envVars).length > 0 ? { env_vars: envVars } : {}),
  };
}

function isWhole(value: Field, min: number, max: number): boolean {
  if (value === '') return false;
  const number = Number(value);
  return Number.isInteger(number) && number >= min && number <= max;
}
