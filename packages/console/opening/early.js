/** Requests of the first page, sent while the modules load; api.js uses the answers. Inlined into the page. */
{
  const chosen = sessionStorage.getItem('weir-workspace') ?? localStorage.getItem('weir-workspace');
  const headers = { 'X-Weir-Console': '1', ...(chosen !== null && { 'X-Weir-Workspace': chosen }) };
  const query = new URLSearchParams(location.search);
  const target = query.get('target') ?? '';
  const action = query.get('action') === 'allow' ? 'allow' : 'block';
  /** Paths below the management API, by page. @type {Record<string, string[]>} */
  const asked = {
    '/console': ['/status', '/activity?minutes=120'],
    '/console/rules': query.size === 0 ? ['/rules?kind=access_rule&sort=changed&descending=true&limit=100'] : [],
    '/console/lookup': /^\d+(\.\d+){3}$/.test(target) ? [`/lookup?${new URLSearchParams({ target, action, path: 'true' })}`] : [],
  };
  const paths = (asked[location.pathname.replace(/\/+$/, '')] ?? []).map((path) => `/v1/manage${path}`);
  // api.js repeats a failed request.
  const ask = (path) => fetch(path, { headers, cache: 'no-store' }).catch(() => undefined);
  Object.assign(globalThis, { weirEarly: new Map(['/console/session', ...paths].map((path) => [path, ask(path)])) });
}
