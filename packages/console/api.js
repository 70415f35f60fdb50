/** Storage key: a tab's workspace in the session storage, the last choice in the local storage. */
const CHOSEN = 'weir-workspace';

/** Sent with every request: no change reaches another workspace. @type {string | null} */
let workspace = sessionStorage.getItem(CHOSEN) ?? localStorage.getItem(CHOSEN);

/**
 * Requests that opening/early.js sent before the modules loaded; each answer is used once.
 * @type {Map<string, Promise<Response | undefined>>}
 */
const early = /** @type {any} */ (globalThis).weirEarly ?? new Map();
/** How long an early answer may be used, ms. */
const GOOD_FOR = 10_000;
setTimeout(() => early.clear(), GOOD_FOR);

/** @param {string} id */
export function showWorkspace(id) {
  if (workspace !== null && workspace !== id) early.clear();
  workspace = id;
  sessionStorage.setItem(CHOSEN, id);
  localStorage.setItem(CHOSEN, id);
}

export class ApiError extends Error {
  /** @param {number} status 0: the service did not answer @param {string} message @param {Fault[]} faults @param {any} body */
  constructor(status, message, faults = [], body = undefined) {
    super(message);
    this.status = status;
    this.faults = faults;
    this.body = body;
  }
}

/** Cached answers by address with their ETag. */
/** @type {Map<string, { tag: string, answer: ApiAnswer }>} */
const cached = new Map();
const MOST_CACHED = 100;

export function forgetAnswers() {
  cached.clear();
  early.clear();
}

/** After the session ended nothing is polled until someone signs in again. */
let ended = false;
export const hasEnded = () => ended;
/** @param {boolean} is */
export const signedIn = (is) => {
  ended = !is;
};

/** Delay between two polls of an asynchronous operation, ms. */
const POLL_DELAY = 1000;

/**
 * Rejects with an ApiError for status 400 and above; a 401 opens the sign-in form.
 * @param {string} path
 * @param {ApiRequest} [request]
 * @returns {Promise<ApiAnswer>}
 */
export async function ask(path, { method = 'GET', body, ifMatch, once, signal } = {}) {
  const headers = new Headers({ 'X-Weir-Console': '1' });
  if (workspace !== null) headers.set('X-Weir-Workspace', workspace);
  if (ifMatch !== undefined) headers.set('If-Match', ifMatch);
  if (once !== undefined) headers.set('Idempotency-Key', once);
  const place = `${workspace} ${path}`;
  const before = method === 'GET' ? cached.get(place) : undefined;
  if (before !== undefined) headers.set('If-None-Match', before.tag);
  const payload = body === undefined || typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body);
  const request = () =>
    fetch(path, { method, headers, body: payload, signal, cache: 'no-store' }).catch((error) => {
      if (error.name === 'AbortError') throw error;
      throw new ApiError(0, 'The service is not responding.');
    });
  const begun = method === 'GET' ? early.get(path) : undefined;
  early.delete(path);
  const response = (await begun) ?? (await request());
  if (response.status === 304 && before !== undefined) return { ...before.answer, body: structuredClone(before.answer.body) };
  const json = await response.json().catch(() => undefined);
  // An asynchronous operation: poll until its answer is ready.
  if (response.status === 202 && json?.answer !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, POLL_DELAY));
    return ask(manage(`/answers/${json.answer}`), signal && { signal });
  }
  if (response.ok) {
    const tag = response.headers.get('ETag');
    const answer = { status: response.status, body: json, tag, location: response.headers.get('Location') };
    cached.delete(place);
    // A strong tag names the edited state only, so it cannot validate the whole answer.
    if (method === 'GET' && tag?.startsWith('W/')) cached.set(place, { tag, answer });
    if (cached.size > MOST_CACHED) cached.delete(/** @type {string} */ (cached.keys().next().value));
    return answer;
  }
  if (response.status === 401 && path !== '/console/session') {
    ended = true;
    dispatchEvent(new CustomEvent('weir-session-ended', { detail: 'refused' }));
  }
  throw new ApiError(response.status, messageOf(response.status, json), Array.isArray(json?.details) ? json.details : [], json);
}

/** @param {number} status @param {any} body */
function messageOf(status, body) {
  if (status === 500) return 'The service failed, perhaps because its store is unavailable. Its log has the cause.';
  if (status === 412) return 'Someone else changed this in the meantime. Close the form and open it again.';
  const rows = Array.isArray(body?.details) ? body.details : [];
  if (rows.length > 0) return rows.map((/** @type {Fault} */ { field, message }) => `${field} ${message}`).join('; ');
  return body?.message ?? body?.error ?? `The service responded with status ${status}.`;
}

/**
 * The address of a management operation; undefined and empty parameters are left out.
 * @param {string} path
 * @param {Record<string, string | number | boolean | undefined>} [query]
 */
export function manage(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `/v1/manage${path}${search === '' ? '' : `?${search}`}`;
}

/**
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
