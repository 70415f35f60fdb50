import { html } from 'htm/preact';

/** @type {Record<string, string>} */
const PATHS = {
  overview: 'M3 12a9 9 0 0 1 18 0M12 12l4-4M5 18h14M12 12h.01',
  feeds: 'M5 5a14 14 0 0 1 14 14M5 11a8 8 0 0 1 8 8M6 18h.01',
  sources: 'M12 3v10M8 9l4 4 4-4M4 14v5h16v-5',
  worth: 'M12 4v16M6 20h12M5 7h14M5 7l-3 7h6zM19 7l-3 7h6z',
  rules: 'M12 3l7 3v5c0 4.5-3 8-7 10-4-2-7-5.5-7-10V6zM9 12l2 2 4-4',
  keys: 'M14 10a4 4 0 1 1-2.8-3.800A4 4 0 0 1 14 10zM13.5 12l7 7M17 15.500l2-2',
  devices: 'M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01',
  bouncers: 'M12 3l7 3v5c0 4.500-3 8-7 10-4-2-7-5.500-7-10V6zM9 9l6 6M15 9l-6 6',
  letters: 'M3 6h18v12H3zM3 7l9 6 9-6',
  geo: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18M3 12h18M12 3c3 3 3.5 6 3.5 9s-.5 6-3.5 9c-3-3-3.5-6-3.5-9s.5-6 3.5-9',
  webhooks: 'M18 16v-5a6 6 0 0 0-12 0v5l-2 2h16zM10 21h4',
  people: 'M9 5a3.500 3.500 0 1 1 0 7 3.500 3.500 0 0 1 0-7M3 20a6 6 0 0 1 12 0M16 6a3 3 0 0 1 0 6M17 15a5 5 0 0 1 4 5',
  audit: 'M7 3h10v18H7zM10 8h4M10 12h4M10 16h2',
  changes: 'M12 3a9 9 0 1 1-8.500 6M3 4v5h5M12 8v4l3 2',
  search: 'M11 5a6 6 0 1 1 0 12 6 6 0 0 1 0-12M15.5 15.500L20 20',
  menu: 'M4 7h16M4 12h16M4 17h16',
  sun: 'M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8M12 3v1M12 20v1M3 12h1M20 12h1M5.6 5.600l.7.700M17.7 17.700l.7.700M18.4 5.600l-.7.700M6.3 17.700l-.7.7',
  moon: 'M20 14a8 8 0 1 1-10-10 6.5 6.5 0 0 0 10 10z',
  out: 'M14 4h5v16h-5M15 12H4M8 8l-4 4 4 4',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12l5 5 9-10',
  up: 'M12 19V5M6 11l6-6 6 6',
  down: 'M12 5v14M6 13l6 6 6-6',
  plus: 'M12 5v14M5 12h14',
  warn: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  help: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18M9.5 9.500a2.500 2.500 0 1 1 3.600 2.200c-.7.400-1.1.900-1.1 1.800M12 17h.01',
  info: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18M12 11v5M12 8h.01',
  edit: 'M4 20l1-4L16 5l3 3L8 19z',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  back: 'M10 6l-6 6 6 6M4 12h16',
  next: 'M9 6l6 6-6 6',
  undo: 'M8 5L4 9l4 4M4 9h10a5 5 0 0 1 0 10h-3',
  settings: 'M4 8h10M18 8h2M4 16h2M10 16h10M14 8a2 2 0 1 0 4 0 2 2 0 0 0-4 0M6 16a2 2 0 1 0 4 0 2 2 0 0 0-4 0',
};

/** Hidden from screen readers: the text next to it says the same. @param {{ name: string, size?: number }} props */
export const Icon = ({ name, size = 18 }) => html`
  <svg width=${size} height=${size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
    <path d=${PATHS[name]} />
  </svg>
`;
