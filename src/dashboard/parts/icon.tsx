// The icons of the page, as strokes on a 24 by 24 grid. They are decoration: a text or an aria-label is always beside them.

const PATHS = {
  gate: "M4 21V10l8-6 8 6v11h-5v-6a3 3 0 0 0-6 0v6z",
  live: "M3 12h4l3-8 4 16 3-8h4",
  map: "M9 4 3 6v14l6-2 6 2 6-2V4l-6 2zM9 4v14M15 6v14",
  players: "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21a7 7 0 0 1 14 0M16 3.5a4 4 0 0 1 0 7M18 14.5a7 7 0 0 1 4 6.5",
  staff: "M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6zM9 12l2 2 4-4",
  vehicles: "M3 16v-4l2-6h14l2 6v4zM3 12h18M7 16v3M17 16v3",
  calls: "M5 4h4l2 5-3 2a11 11 0 0 0 5 5l2-3 5 2v4a1 1 0 0 1-1 1A16 16 0 0 1 4 5a1 1 0 0 1 1-1z",
  logs: "M8 6h13M8 12h13M8 18h13M3 6h.01M3 12h.01M3 18h.01",
  activity: "M12 21a9 9 0 1 0-9-9M3 4v8h8M12 7v5l4 2",
  plots: "M3 3v18h18M7 15l4-5 3 3 6-7",
  commands: "M4 6l6 6-6 6M12 18h8",
  overview: "M4 4h7v7H4zM13 4h7v4h-7zM13 11h7v9h-7zM4 14h7v6H4z",
  switch: "M8 9l4-4 4 4M8 15l4 4 4-4",
  servers: "M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01",
  people: "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21a7 7 0 0 1 14 0M19 8v6M16 11h6",
  me: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0",
  passkey:
    "M10 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM3 21a7 7 0 0 1 10-6.3M18 16a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM18 16v6M18 19h3",
  chat: "M4 5h16v11H9l-5 4z",
  keys: "M14 10a5 5 0 1 0-4 4.9L12 13h3v-3zM14 10l7-7v4h-3v3M8 15h.01",
  blocks: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM5.6 5.6l12.8 12.8",
  webhooks:
    "M9 8.5a3.5 3.5 0 1 1 5.5 2.9l3 5.1M12 8.5l-3.5 6M8.5 14.5a3.5 3.5 0 1 0 1 4.5H16M16.5 15.6a3.5 3.5 0 1 1-.5 4.9",
  audit: "M9 4h6v3H9zM9 5H5v16h14V5h-4M9 12h6M9 16h4",
  health: "M12 20S3 14.5 3 8.5A4.5 4.5 0 0 1 12 7a4.5 4.5 0 0 1 9 1.5c0 6-9 11.5-9 11.5z",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
  join: "M14 4h5v16h-5M9 8l4 4-4 4M13 12H3",
  kill: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 1v6M12 17v6M1 12h6M17 12h6",
  leave: "M10 4H5v16h5M15 8l4 4-4 4M19 12H9",
  refresh: "M20 11a8 8 0 0 0-14.5-4L3 9M3 4v5h5M4 13a8 8 0 0 0 14.5 4L21 15M21 20v-5h-5",
  warning: "M12 4 2.5 20h19zM12 10v4M12 17h.01",
  empty: "M4 13l3-8h10l3 8v6H4zM4 13h5l1 2h4l1-2h5",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12l5 5 9-10",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  menu: "M4 7h16M4 12h16M4 17h16",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  back: "M15 5l-7 7 7 7",
  minus: "M5 12h14",
  down: "M6 9l6 6 6-6",
  columns: "M4 5h16v14H4zM9.5 5v14M14.5 5v14",
  keyboard: "M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M7 14h10",
  fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  follow: "M12 18a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM12 2v5M12 17v5M2 12h5M17 12h5",
  bell: "M6 17V11a6 6 0 0 1 12 0v6l2 2H4zM10 22h4",
  bellOff: "M6 17V11a6 6 0 0 1 12 0v6l2 2H4zM10 22h4M3 3l18 18",
  eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
  eyeOff: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12zM4 20 20 4",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 20 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      style={{ flex: "none" }}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
