/** Signing in and out, and what the person who is signed in may do. */
import { ask, showWorkspace, signedIn } from './api.js';
import { forgetData } from './data.js';

/**
 * @typedef {object} Session
 * @property {string} actor The name of the person, for the audit log.
 * @property {string | null} key_id null: no key, but a person whom a provider has named.
 * @property {string | null} person The provider that has named him, and who that is there.
 * @property {string[]} permissions
 * @property {string} workspace_id
 * @property {{ id: string, name: string, role: string }[]} workspaces Where he may work; empty for a key.
 * @property {string} expires_at
 */

const ADDRESS = '/console/session';

/** @typedef {{ keys: boolean, providers: { id: string, name: string }[] }} WaysIn How somebody may sign in. */

/** Who is signed in; null: nobody, and how that is done. @returns {Promise<{ session: Session | null, sign_in?: WaysIn }>} */
export async function readSession() {
  const { body } = await ask(ADDRESS);
  if (body.session !== null) showWorkspace(body.session.workspace_id);
  return body;
}

/** The same where the session had ended: who is signed in again reads on. */
export async function resumeSession() {
  const read = await readSession();
  if (read.session !== null) signedIn(true);
  return read;
}

/**
 * @param {string} key
 * @param {string} name
 * @returns {Promise<Session>}
 */
export async function signIn(key, name) {
  const { body } = await ask(ADDRESS, { method: 'POST', body: { key, name } });
  forgetData();
  signedIn(true);
  showWorkspace(body.session.workspace_id);
  return body.session;
}

export async function signOut() {
  // What is read by itself reads no more.
  signedIn(false);
  const { body } = await ask(ADDRESS, { method: 'DELETE' });
  // The provider sends the browser back.
  if (typeof body.leave === 'string') return location.assign(body.leave);
  // Who has left is not signed in again by itself.
  history.replaceState(null, '', '/console/?left');
  forgetData();
  dispatchEvent(new Event('weir-session-ended'));
}

/** Shows another workspace of the person who is signed in. @param {string} id */
export function switchWorkspace(id) {
  showWorkspace(id);
  location.assign('/console/');
}

/** What else a permission includes, as the service has it. @type {Record<string, string[]>} */
const INCLUDED = { manage: ['rules:read', 'rules:write'], 'rules:write': ['rules:read'] };

/**
 * Whether somebody may do what needs a permission. The service judges again; this only decides what is offered.
 * @param {Session} session
 * @param {string} permission
 */
export const may = ({ permissions }, permission) => permissions.some((held) => held === permission || INCLUDED[held]?.includes(permission));
