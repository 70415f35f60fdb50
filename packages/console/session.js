import { ask, showWorkspace, signedIn } from './api.js';
import { forgetData } from './data.js';
import { IMPLIED } from './tables.js';

const ADDRESS = '/console/session';

/** `session` null: nobody is signed in. @returns {Promise<{ session: Session | null, sign_in?: WaysIn }>} */
export async function readSession() {
  const { body } = await ask(ADDRESS);
  if (body.session !== null) showWorkspace(body.session.workspace_id);
  return body;
}

/** After a session ended: polling continues. */
export async function resumeSession() {
  const read = await readSession();
  if (read.session !== null) signedIn(true);
  return read;
}

/** @param {string} key @param {string} name @returns {Promise<Session>} */
export async function signIn(key, name) {
  const { body } = await ask(ADDRESS, { method: 'POST', body: { key, name } });
  forgetData();
  signedIn(true);
  showWorkspace(body.session.workspace_id);
  return body.session;
}

export async function signOut() {
  // Stops polling.
  signedIn(false);
  const { body } = await ask(ADDRESS, { method: 'DELETE' });
  // The provider redirects back.
  if (typeof body.leave === 'string') return location.assign(body.leave);
  // `?left` prevents an automatic sign-in.
  history.replaceState(null, '', '/console/?left');
  forgetData();
  dispatchEvent(new Event('weir-session-ended'));
}

/** @param {string} id */
export function switchWorkspace(id) {
  showWorkspace(id);
  location.assign('/console/');
}

/** Signed in as a person. @param {Session} session */
export const isAdmin = ({ person, workspaces, workspace_id: id }) =>
  person !== null && workspaces.some((each) => each.id === id && each.role === 'admin');

/** Only decides what to offer; the service checks again. @param {Session} session @param {string} permission */
export const may = ({ permissions }, permission) => permissions.some((own) => own === permission || IMPLIED[own]?.includes(permission));
