/** All pages: a row is all that there is to one, its place in the navigation included. */

/** @typedef {import('./session.js').Session} Session */
/** @typedef {import('./router.js').Place} Place */
/**
 * @typedef {object} PageProps What a page is given.
 * @property {Session} session
 * @property {Place} place `place.parts` are the parts behind the page's own path.
 */
/**
 * @typedef {object} PageRow
 * @property {string} path Below /console.
 * @property {string} title In the navigation and in the window's title.
 * @property {string} help The document that says more, as a path of the project.
 * @property {string} icon A name of ui/icon.js.
 * @property {string} group The heading in the navigation; empty for none.
 * @property {string} permission What a key needs to be offered the page.
 * @property {() => Promise<{ Page: (props: PageProps) => any }>} load Loads the page's module when it is opened first.
 */

/** @type {PageRow[]} */
export const PAGES = [
  {
    path: '/',
    title: 'Overview',
    help: 'docs/status.md',
    icon: 'overview',
    group: '',
    permission: 'rules:read',
    load: () => import('./pages/overview.js'),
  },
  {
    path: '/changes',
    title: 'What changed',
    help: 'docs/management.md',
    icon: 'changes',
    group: '',
    permission: 'rules:read',
    load: () => import('./pages/changes.js'),
  },
  {
    path: '/feeds',
    title: 'Feeds',
    help: 'docs/feeds.md',
    icon: 'feeds',
    group: 'Content',
    permission: 'rules:read',
    load: () => import('./pages/feeds.js'),
  },
  {
    path: '/sources',
    title: 'Sources',
    help: 'docs/sources.md',
    icon: 'sources',
    group: 'Content',
    permission: 'rules:read',
    load: () => import('./pages/sources.js'),
  },
  {
    path: '/worth',
    title: 'Worth',
    help: 'docs/worth.md',
    icon: 'worth',
    group: 'Content',
    permission: 'rules:read',
    load: () => import('./pages/worth.js'),
  },
  {
    path: '/rules',
    title: 'Rules',
    help: 'docs/signals.md',
    icon: 'rules',
    group: 'Content',
    permission: 'rules:read',
    load: () => import('./pages/rules.js'),
  },
  {
    path: '/batches',
    title: 'Batches',
    help: 'docs/batches.md',
    icon: 'batches',
    group: 'Content',
    permission: 'rules:read',
    load: () => import('./pages/batches.js'),
  },
  {
    path: '/lookup',
    title: 'Look up',
    help: 'docs/lookup.md',
    icon: 'search',
    group: 'Content',
    permission: 'rules:read',
    load: () => import('./pages/lookup.js'),
  },
  {
    path: '/backtest',
    title: 'Backtest',
    help: 'docs/backtest.md',
    icon: 'undo',
    group: 'Content',
    permission: 'rules:read',
    load: () => import('./pages/backtest.js'),
  },
  {
    path: '/devices',
    title: 'Devices',
    help: 'docs/operating.md#devices',
    icon: 'devices',
    group: 'Operation',
    permission: 'rules:read',
    load: () => import('./pages/devices.js'),
  },
  {
    path: '/bouncers',
    title: 'Bouncers',
    help: 'docs/bouncers.md',
    icon: 'bouncers',
    group: 'Operation',
    permission: 'rules:read',
    load: () => import('./pages/bouncers.js'),
  },
  {
    path: '/dead-letters',
    title: 'Dead letters',
    help: 'docs/operating.md#weirdeadletters',
    icon: 'letters',
    group: 'Operation',
    permission: 'manage',
    load: () => import('./pages/dead-letters.js'),
  },
  {
    path: '/geo',
    title: 'Geo data',
    help: 'docs/geo.md',
    icon: 'geo',
    group: 'Operation',
    permission: 'rules:read',
    load: () => import('./pages/geo.js'),
  },
  {
    path: '/webhooks',
    title: 'Webhooks',
    help: 'docs/webhooks.md',
    icon: 'webhooks',
    group: 'Operation',
    permission: 'manage',
    load: () => import('./pages/webhooks.js'),
  },
  {
    path: '/workspace',
    title: 'Workspace',
    help: 'docs/deployment.md#guard-rails',
    icon: 'settings',
    group: 'Access',
    permission: 'rules:read',
    load: () => import('./pages/workspace.js'),
  },
  {
    path: '/keys',
    title: 'Keys',
    help: 'docs/keys.md',
    icon: 'keys',
    group: 'Access',
    permission: 'keys:write',
    load: () => import('./pages/keys.js'),
  },
  {
    path: '/people',
    title: 'People',
    help: 'docs/people.md',
    icon: 'people',
    group: 'Access',
    permission: 'manage',
    load: () => import('./pages/people.js'),
  },
  {
    path: '/audit',
    title: 'Audit',
    help: 'docs/management.md',
    icon: 'audit',
    group: 'Access',
    permission: 'manage',
    load: () => import('./pages/audit.js'),
  },
];

/**
 * The page of a path, with the parts behind its own: `/feeds/edge` is the page `/feeds` with `edge`.
 * @param {Place} place
 * @returns {{ page: PageRow, place: Place } | undefined}
 */
export function pageOf(place) {
  const page =
    place.parts.length === 0
      ? PAGES[0]
      : PAGES.find(({ path }) => path !== '/' && (place.path === path || place.path.startsWith(`${path}/`)));
  return page && { page, place: { ...place, parts: place.parts.slice(page.path === '/' ? 0 : page.path.split('/').length - 1) } };
}
