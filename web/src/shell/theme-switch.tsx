/** Light, dark, or as the system is. */
import { SegmentedControl, useMantineColorScheme, VisuallyHidden } from '@mantine/core';
import { Icon } from '../parts/icon.tsx';

const choices = [
  { value: 'auto', icon: 'screen', label: 'As the system' },
  { value: 'light', icon: 'sun', label: 'Light' },
  { value: 'dark', icon: 'moon', label: 'Dark' },
] as const;

export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      aria-label="Colours"
      value={colorScheme}
      onChange={(value) => setColorScheme(value as typeof colorScheme)}
      data={choices.map(({ value, icon, label }) => ({
        value,
        label: (
          <span title={label}>
            <Icon name={icon} size={14} />
            <VisuallyHidden>{label}</VisuallyHidden>
          </span>
        ),
      }))}
    />
  );
}
