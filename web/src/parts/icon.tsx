/** The icons: strokes on a grid of 24, in the colour of the text, hidden from screen readers. */

const paths = {
  boxes: 'M3 7.5 12 3l9 4.5v9L12 21l-9-4.5zM3 7.5l9 4.5 9-4.5M12 12v9',
  camera: 'M4 8h3l2-3h6l2 3h3v11H4zM12 16.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  activity: 'M3 12h4l3-8 4 16 3-8h4',
  people:
    'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21c0-4 3-7 7-7s7 3 7 7M16 3.5a4 4 0 0 1 0 7M19 14.5c2 1 3 3.5 3 6.5',
  plug: 'M9 3v5M15 3v5M6 8h12v4a6 6 0 0 1-12 0zM12 18v3',
  database:
    'M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3zM4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3',
  heart: 'M12 20s-8-5-8-11a4.5 4.5 0 0 1 8-2.8A4.5 4.5 0 0 1 20 9c0 6-8 11-8 11z',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4',
  moon: 'M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5z',
  screen: 'M3 4h18v12H3zM8 20h8M12 16v4',
  menu: 'M4 6h16M4 12h16M4 18h16',
  close: 'M6 6l12 12M18 6 6 18',
  plus: 'M12 5v14M5 12h14',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5',
  play: 'M7 4v16l13-8z',
  stop: 'M6 6h12v12H6z',
  archive: 'M3 4h18v5H3zM5 9v11h14V9M10 13h4',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  more: 'M12 5.5v.01M12 12v.01M12 18.5v.01',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M4 12.5 9.5 18 20 6',
  warning: 'M12 3 2 20h20zM12 10v4M12 17v.01',
  chevron: 'M9 6l6 6-6 6',
  down: 'M6 9l6 6 6-6',
  up: 'M6 15l6-6 6 6',
  folder: 'M3 5h6l2 3h10v11H3z',
  file: 'M6 3h8l5 5v13H6zM14 3v5h5',
  upload: 'M12 16V4M7 9l5-5 5 5M4 20h16',
  download: 'M12 4v12M7 11l5 5 5-5M4 20h16',
  edit: 'M4 20h4L20 8l-4-4L4 16z',
  link: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
  key: 'M8 19a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM11.5 10.5 20 2M16 6l3 3',
  refresh: 'M20 5v5h-5M4 19v-5h5M19 10A8 8 0 0 0 5.5 7M5 14a8 8 0 0 0 13.5 3',
  branch:
    'M7 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM7 21a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM17 11a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM7 8v8M17 11c0 4-6 2-9.5 6',
  terminal: 'M3 4h18v16H3zM7 9l3 3-3 3M13 15h4',
  logout: 'M10 4H4v16h6M9 12h12M17 8l4 4-4 4',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'more' ? 3 : 1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
