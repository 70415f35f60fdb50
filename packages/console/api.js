/** Requests to the service. All of the console's data come through here. */

/** Where the browser keeps the workspace that a tab shows, and the one that was chosen last. */
const CHOSEN = 'weir-workspace';

/** The workspace that this tab shows: every request names it, so that no change lands in another. @type {string | null} */
let workspace = sessionStorage.getItem(CHOSEN) ?? localStorage.getItem(CHOSEN);

/** What opening/early.js has asked before the modules were there, each to be taken once. @type {Map<string, Promise<Response | undefined>>} */
const early = /** @type {any} */ (globalThis).weirEarly ?? new Map();
/** How long such an answer is good for, ms. */
const GOOD_FOR = 10_000;
setTimeout(() => early.clear(), GOOD_FOR);

/** @param {string} id */
export function showWorkspace(id) {
  if (workspace !== null && workspace !== id) early.clear();
  workspace = id;
  sessionStorage.setItem(CHOSEN, id);
  localStorage.setItem(CHOSEN, id);
}

/** @typedef {{ field: string, message: string, value?: unknown }} Fault What is wrong with one field. */

/** A request that was refused or has failed. */
export class ApiError extends Error {
  /**
   * @param {number} status 0: the service did not answer
   * @param {string} message
   * @param {Fault[]} faults
   * @param {any} body
   */
  constructor(status, message, faults = [], body = undefined) {
    super(message);
    this.status = status;
    this.faults = faults;
    this.body = body;
  }
}

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {any} body The JSON of the answer.
 * @property {string | null} tag The ETag of a resource that can be edited.
 * @property {string | null} location
 */

/**
 * @typedef {object} Request
 * @property {'GET' | 'POST' | 'PATCH' | 'DELETE'} [method]
 * @property {unknown} [body] Sent as JSON; a text or Blob as it is.
 * @property {string} [ifMatch] The ETag of the state that is changed.
 * @property {string} [once] The Idempotency-Key: a request that is sent again with it is not done again.
 * @property {AbortSignal} [signal]
 */

/** What was read last of each address, with the tag that names it: the service sends it only when it is other. */
/** @type {Map<string, { tag: string, answer: Answer }>} */
const held = new Map();
/** Answers that are held. */
const HELD = 100;

/** Forgets what was read. */
export function forgetAnswers() {
  held.clear();
  early.clear();
}

/** Whether the session has ended: until somebody signs in again nothing is asked by itself. */
let ended = false;
export const hasEnded = () => ended;
/** Says whether somebody is signed in. @param {boolean} is */
export const signedIn = (is) => {
  ended = !is;
};

/** How often a late answer is asked for, ms. */
const LATE = 1000;

/**
 * Asks the service. Rejects with an ApiError for every answer of 400 and more; after a 401 the form to sign in is shown.
 * @param {string} path
 * @param {Request} [request]
 * @returns {Promise<Answer>}
 */
export async function ask(path, { method = 'GET', body, ifMatch, once, signal } = {}) {
  const headers = new Headers({ 'X-Weir-Console': '1' });
  if (workspace !== null) headers.set('X-Weir-Workspace', workspace);
  if (ifMatch !== undefined) headers.set('If-Match', ifMatch);
  if (once !== undefined) headers.set('Idempotency-Key', once);
  const place = `${workspace} ${path}`;
  const before = method === 'GET' ? held.get(place) : undefined;
  if (before !== undefined) headers.set('If-None-Match', before.tag);
  const payload = body === undefined || typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body);
  const request = () =>
    fetch(path, { method, headers, body: payload, signal, cache: 'no-store' }).catch((error) => {
      if (error.name === 'AbortError') throw error;
      throw new ApiError(0, 'The service does not answer.');
    });
  const begun = method === 'GET' ? early.get(path) : undefined;
  early.delete(path);
  const response = (await begun) ?? (await request());
  if (response.status === 304 && before !== undefined) return { ...before.answer, body: structuredClone(before.answer.body) };
  const json = await response.json().catch(() => undefined);
  // The answer is late: it is asked for until it is there.
  if (response.status === 202 && json?.answer !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, LATE));
    return ask(manage(`/answers/${json.answer}`), signal && { signal });
  }
  if (response.ok) {
    const tag = response.headers.get('ETag');
    const answer = { status: response.status, body: json, tag, location: response.headers.get('Location') };
    held.delete(place);
    // A tag that is not weak names the state of what is edited, and not all that is shown of it.
    if (method === 'GET' && tag?.startsWith('W/')) held.set(place, { tag, answer });
    if (held.size > HELD) held.delete(/** @type {string} */ (held.keys().next().value));
    return answer;
  }
  if (response.status === 401 && path !== '/console/session') {
    ended = true;
    dispatchEvent(new CustomEvent('weir-session-ended', { detail: 'refused' }));
  }
  throw new ApiError(response.status, messageOf(response.status, json), Array.isArray(json?.details) ? json.details : [], json);
}

/**
 * @param {number} status
 * @param {any} body
 */
function messageOf(status, body) {
  if (status === 500) return 'The service has failed to answer: its store may be away; its log says why.';
  if (status === 412) return 'Somebody else has changed it meanwhile. Close this and look again.';
  const rows = Array.isArray(body?.details) ? body.details : [];
  if (rows.length > 0) return rows.map((/** @type {Fault} */ { field, message }) => `${field} ${message}`).join('; ');
  return body?.message ?? body?.error ?? `The service answered ${status}.`;
}

/**
 * The address of a management operation: its path below /v1/manage, and its parameters; those that are undefined or empty are left out.
 * @param {string} path
 * @param {Record<string, string | number | boolean | undefined>} [query]
 */
export function manage(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `/v1/manage${path}${search === '' ? '' : `?${search}`}`;
}

/**
 * All items of a list that comes in pages, up to `most`.
 * @param {string} path As of `manage`.
 * @param {string} name The field that holds the items.
 * @param {Record<string, string | number | boolean | undefined>} [query]
 * @param {number} [most]
 * @returns {Promise<any[]>}
 */
export async function allPages(path, name, query = {}, most = 10_000) {
  const items = [];
  let after;
  do {
    const { body } = await ask(manage(path, { limit: 1000, ...query, after }));
    items.push(...body[name]);
    after = body.next ?? undefined;
  } while (after !== undefined && items.length < most);
  return items;
}
