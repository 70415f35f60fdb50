/**
 * What the page that is opened asks the service in any case is asked while its modules are on their way; api.js takes the answers. A plain
 * script, which stands in the page.
 */
{
  const chosen = sessionStorage.getItem('weir-workspace') ?? localStorage.getItem('weir-workspace');
  const headers = { 'X-Weir-Console': '1', ...(chosen !== null && { 'X-Weir-Workspace': chosen }) };
  const query = new URLSearchParams(location.search);
  const target = query.get('target') ?? '';
  const action = query.get('action') === 'allow' ? 'allow' : 'block';
  /** @type {Record<string, string[]>} By the path of a page, below the management API. */
  const asked = {
    '/console': ['/status', '/activity?minutes=60'],
    '/console/rules': query.size === 0 ? ['/rules?kind=access_rule&limit=100'] : [],
    '/console/lookup': /^\d+(\.\d+){3}$/.test(target) ? [`/lookup?${new URLSearchParams({ target, action, path: 'true' })}`] : [],
  };
  const paths = (asked[location.pathname.replace(/\/+$/, '')] ?? []).map((path) => `/v1/manage${path}`);
  // What fails is asked again.
  const ask = (/** @type {string} */ path) => fetch(path, { headers, cache: 'no-store' }).catch(() => undefined);
  Object.assign(globalThis, { weirEarly: new Map(['/console/session', ...paths].map((path) => [path, ask(path)])) });
}
