import { ask, manage } from '../../api.js';
import { link } from '../../router.js';

/** @type {Record<string, { kind: 'good' | 'warn' | 'bad' | '', about: string }>} */
export const STATES = {
  ok: { kind: 'good', about: 'Its list is what its origin has.' },
  new: { kind: '', about: 'It was never fetched.' },
  failing: { kind: 'warn', about: 'The last look failed; the last good content stays.' },
  stale: { kind: 'warn', about: 'Its content was not confirmed for a long time.' },
  undone: { kind: 'warn', about: 'A refresh was undone: its list is not what its origin has. The next other content is held.' },
  held: { kind: 'warn', about: 'A refresh is held back until somebody decides; the last good content stays.' },
  expired: { kind: 'bad', about: 'Its content was not confirmed for too long: its list was emptied. Content that comes back is applied.' },
  stopped: { kind: 'bad', about: 'Its origin refuses it, or its secret is missing: resume it when that is mended.' },
  paused: { kind: '', about: 'Somebody has paused it: it is not fetched.' },
};

/** @param {Source} source */
export const stateOf = ({ state }) => STATES[state] ?? { kind: '', about: '' };

/** Consecutive failures before a source counts as outdated. */
const MANY = 3;

/** @param {Source} source */
export const isOldSource = ({ state, failures }) => (state === 'failing' ? failures >= MANY : state !== 'ok' && state !== 'new');

/** @param {{ id: string }} source */
export const linkToSource = ({ id }) => link('/sources', id);

/** @param {string} id @param {string} [work] */
export const addressOf = (id, work = '') => manage(`/sources/${id}${work === '' ? '' : `/${work}`}`);

/** Accept and discard name the held refresh. @param {Source} source @param {'refresh' | 'pause' | 'resume' | 'accept' | 'discard'} work */
export const bodyOf = ({ held }, work) =>
  held !== null && (work === 'accept' || work === 'discard') ? { replacement: held.replacement } : {};

/** @param {Source} source @param {'refresh' | 'pause' | 'resume' | 'accept' | 'discard'} work */
export const doWith = (source, work) => ask(addressOf(source.id, work), { method: 'POST', body: bodyOf(source, work) });

/** `6 h`, `1 d` @param {number} seconds */
export const everyText = (seconds) =>
  seconds % 86_400 === 0 ? `${seconds / 86_400} d` : seconds % 3600 === 0 ? `${seconds / 3600} h` : `${Math.round(seconds / 60)} min`;
