const ROWS = /** @type {const} */ ([
  ['/', 'Overview', 'docs/status.md', 'overview', '', 'rules:read', () => import('./pages/overview.js')],
  ['/changes', 'Timeline', 'docs/batches.md', 'changes', '', 'rules:read', () => import('./pages/changes.js')],
  ['/feeds', 'Feeds', 'docs/feeds.md', 'feeds', 'Content', 'rules:read', () => import('./pages/feeds.js')],
  ['/sources', 'Sources', 'docs/sources.md', 'sources', 'Content', 'rules:read', () => import('./pages/sources.js')],
  ['/worth', 'List value', 'docs/worth.md', 'worth', 'Content', 'rules:read', () => import('./pages/worth.js')],
  ['/rules', 'Rules', 'docs/signals.md', 'rules', 'Content', 'rules:read', () => import('./pages/rules.js')],
  ['/approvals', 'Approvals', 'docs/large-changes.md#approval', 'check', 'Content', 'rules:read', () => import('./pages/approvals.js')],
  ['/lookup', 'Look up', 'docs/lookup.md', 'search', 'Content', 'rules:read', () => import('./pages/lookup.js')],
  ['/backtest', 'Backtest', 'docs/backtest.md', 'undo', 'Content', 'rules:read', () => import('./pages/backtest.js')],
  ['/devices', 'Devices', 'docs/operating.md#devices', 'devices', 'Operation', 'rules:read', () => import('./pages/devices.js')],
  ['/bouncers', 'Bouncers', 'docs/bouncers.md', 'bouncers', 'Operation', 'rules:read', () => import('./pages/bouncers.js')],
  [
    '/dead-letters',
    'Dead letters',
    'docs/operating.md#weirdeadletters',
    'letters',
    'Operation',
    'manage',
    () => import('./pages/dead-letters.js'),
  ],
  ['/geo', 'Geo data', 'docs/geo.md', 'geo', 'Operation', 'rules:read', () => import('./pages/geo.js')],
  ['/webhooks', 'Webhooks', 'docs/webhooks.md', 'webhooks', 'Operation', 'manage', () => import('./pages/webhooks.js')],
  ['/workspace', 'Workspace', 'docs/deployment.md#guard-rails', 'settings', 'Access', 'rules:read', () => import('./pages/workspace.js')],
  ['/keys', 'Keys', 'docs/keys.md', 'keys', 'Access', 'keys:write', () => import('./pages/keys.js')],
  ['/people', 'People', 'docs/people.md', 'people', 'Access', 'manage', () => import('./pages/people.js')],
  ['/audit', 'Audit', 'docs/management.md', 'audit', 'Access', 'manage', () => import('./pages/audit.js')],
]);

/** @type {PageRow[]} */
export const PAGES = ROWS.map(([path, title, help, icon, group, permission, load]) => ({
  path,
  title,
  help,
  icon,
  group,
  permission,
  load,
}));

/** `/feeds/edge` is the page `/feeds` with the part `edge`. @param {Place} place @returns {{ page: PageRow, place: Place } | undefined} */
export function pageOf(place) {
  const page =
    place.parts.length === 0
      ? PAGES[0]
      : PAGES.find(({ path }) => path !== '/' && (place.path === path || place.path.startsWith(`${path}/`)));
  return page && { page, place: { ...place, parts: place.parts.slice(page.path === '/' ? 0 : page.path.split('/').length - 1) } };
}
