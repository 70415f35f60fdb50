/** Session storage keys: the page to return to, the time of the last redirect. */
const RETURN = 'weir-return';
const SENT = 'weir-sent';
/** Minimum time between two automatic redirects, ms. */
const PATIENCE = 30_000;

/** @type {Record<string, (name: string) => string>} */
export const REASONS = {
  away: (name) => `${name} is not responding. Existing sessions continue. Try again in a moment.`,
  denied: (name) => `${name} denied access.`,
  refused: (name) => `The response of ${name} is not valid. The log of weir has the cause.`,
  stale: () => 'This sign-in has expired or began in another browser. Start again.',
  no_role: (name) => `None of your groups at ${name} has a role here. Ask your weir administrator.`,
  store: () => 'The store of weir is unavailable, so no session can start. Try again in a moment.',
  busy: () => 'Too many people are signing in at once. Try again in a moment.',
};

const place = () => new URLSearchParams(location.search);

/** @param {{ id: string, name: string }[]} providers */
export function whyNot(providers) {
  const reason = place().get('sign_in');
  const name = providers.find(({ id }) => id === place().get('provider'))?.name ?? 'The provider';
  return reason !== null && Object.hasOwn(REASONS, reason) ? REASONS[reason](name) : undefined;
}

/**
 * Whether to redirect without a click: there is a single provider, and the person neither came back, nor signed out, nor asked for a key
 * (`?key`).
 * @param {WaysIn} waysIn
 */
export function isToBegin({ providers }) {
  const isSent = Date.now() - Number(sessionStorage.getItem(SENT) ?? 0) < PATIENCE;
  return providers.length === 1 && !place().has('sign_in') && !place().has('key') && !place().has('left') && !isSent;
}

/** @param {string} id */
export function beginWith(id) {
  if (!place().has('sign_in')) sessionStorage.setItem(RETURN, location.pathname + location.search + location.hash);
  sessionStorage.setItem(SENT, String(Date.now()));
  location.assign(`/console/sign-in/${encodeURIComponent(id)}`);
}

export function cameBack() {
  const page = sessionStorage.getItem(RETURN);
  sessionStorage.removeItem(RETURN);
  sessionStorage.removeItem(SENT);
  const isOwn = page?.startsWith('/console/') && new URL(page, location.href).origin === location.origin;
  const wanted = isOwn ? String(page) : location.pathname;
  if (isOwn || place().has('sign_in') || place().has('left')) history.replaceState(null, '', wanted);
}
