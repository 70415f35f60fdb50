/** Signing in and out, and what the person who is signed in may do. */
import { ask } from './api.js';
import { forgetData } from './data.js';

/**
 * @typedef {object} Session
 * @property {string} actor The name of the person, for the audit log.
 * @property {string} key_id
 * @property {string[]} permissions
 * @property {string} workspace_id
 * @property {string} expires_at
 */

const ADDRESS = '/console/session';

/** @returns {Promise<Session | null>} null: nobody is signed in. */
export const readSession = async () => (await ask(ADDRESS)).body.session;

/**
 * @param {string} key
 * @param {string} name
 * @returns {Promise<Session>}
 */
export async function signIn(key, name) {
  const { body } = await ask(ADDRESS, { method: 'POST', body: { key, name } });
  forgetData();
  return body.session;
}

export async function signOut() {
  await ask(ADDRESS, { method: 'DELETE' });
  forgetData();
  dispatchEvent(new Event('weir-session-ended'));
}

/** What else a permission includes, as the service has it. @type {Record<string, string[]>} */
const INCLUDED = { manage: ['rules:read', 'rules:write'], 'rules:write': ['rules:read'] };

/**
 * Whether somebody may do what needs a permission. The service judges again; this only decides what is offered.
 * @param {Session} session
 * @param {string} permission
 */
export const may = ({ permissions }, permission) => permissions.some((held) => held === permission || INCLUDED[held]?.includes(permission));
