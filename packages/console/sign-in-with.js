/** Signing in with a provider: going there, coming back, and why that may have failed. */

/** Where the browser keeps the page to come back to, and when it was sent away last by itself. */
const RETURN = 'weir-return';
const SENT = 'weir-sent';
/** Who was sent away and comes back without a session is not sent again within this time, ms. */
const PATIENCE = 30_000;

/** Why nobody is signed in, by the word in the page's address. @type {Record<string, (name: string) => string>} */
export const REASONS = {
  away: (name) => `${name} does not answer. Who is signed in stays so; try again in a moment.`,
  denied: (name) => `${name} has not let you in.`,
  refused: (name) => `What ${name} says of you is not valid. The log of weir says why.`,
  stale: () => 'This sign-in was begun elsewhere, or too long ago. Begin again.',
  no_role: (name) => `${name} knows you, but no group of yours has a role here. Ask who runs weir for one.`,
  store: () => 'You are known, but weir cannot keep a session now: its store does not answer. Try again in a moment.',
  busy: () => 'Too many people are signing in at once. Try again in a moment.',
};

const place = () => new URLSearchParams(location.search);

/** What to tell somebody whose sign-in has failed. @param {{ id: string, name: string }[]} providers */
export function whyNot(providers) {
  const reason = place().get('sign_in');
  const name = providers.find(({ id }) => id === place().get('provider'))?.name ?? 'The provider';
  return reason !== null && Object.hasOwn(REASONS, reason) ? REASONS[reason](name) : undefined;
}

/**
 * Whether to go to the provider without being asked: there is one, nobody has just come from there or has left, and no key is meant (`?key`).
 * @param {import('./session.js').WaysIn} waysIn
 */
export function isToBegin({ providers }) {
  const isSent = Date.now() - Number(sessionStorage.getItem(SENT) ?? 0) < PATIENCE;
  return providers.length === 1 && !place().has('sign_in') && !place().has('key') && !place().has('left') && !isSent;
}

/** Goes to a provider. @param {string} id */
export function beginWith(id) {
  if (!place().has('sign_in')) sessionStorage.setItem(RETURN, location.pathname + location.search + location.hash);
  sessionStorage.setItem(SENT, String(Date.now()));
  location.assign(`/console/sign-in/${encodeURIComponent(id)}`);
}

/** Shows the page from which somebody went to sign in. */
export function cameBack() {
  const page = sessionStorage.getItem(RETURN);
  sessionStorage.removeItem(RETURN);
  sessionStorage.removeItem(SENT);
  const isOwn = page?.startsWith('/console/') && new URL(page, location.href).origin === location.origin;
  const wanted = isOwn ? String(page) : location.pathname;
  if (isOwn || place().has('sign_in') || place().has('left')) history.replaceState(null, '', wanted);
}
