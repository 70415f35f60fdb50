import { manage } from '../../api.js';
import { link } from '../../router.js';

/** @type {Record<string, { kind: 'good' | 'warn' | 'bad' | '', about: string }>} */
export const STATES = {
  ok: { kind: 'good', about: 'Up to date.' },
  new: { kind: '', about: 'Not fetched yet.' },
  failing: { kind: 'warn', about: 'The last fetch failed. Its list keeps the last good content.' },
  stale: { kind: 'warn', about: 'Not verified for a long time.' },
  undone: { kind: 'warn', about: 'A refresh was undone, so its list differs from its origin. The next change will be on hold.' },
  held: { kind: 'warn', about: 'A refresh is on hold. Its list keeps the last good content.' },
  expired: { kind: 'bad', about: 'Not verified for too long, so its list was emptied. The next successful fetch fills it again.' },
  stopped: { kind: 'bad', about: 'Its origin refuses requests, or its secret is missing. Fix this and resume.' },
  paused: { kind: '', about: 'Paused: not fetched.' },
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

/** Accept and discard name the refresh on hold. @param {Source} source @param {'refresh' | 'pause' | 'resume' | 'accept' | 'discard'} work */
export const bodyOf = ({ held }, work) =>
  held !== null && (work === 'accept' || work === 'discard') ? { replacement: held.replacement } : {};

/** `6 h`, `1 d` @param {number} seconds */
export const everyText = (seconds) =>
  seconds % 86_400 === 0 ? `${seconds / 86_400} d` : seconds % 3600 === 0 ? `${seconds / 3600} h` : `${Math.round(seconds / 60)} min`;
