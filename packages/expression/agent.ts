/** Agent values of fields that differ from the original request when WAF rules run (D19.13). */

/** The agent cannot read it: TLS and TCP fingerprints arrive too late or never. */
export function isUnknownToAgent(name: string): boolean {
  return (name.startsWith('signal.') && !name.startsWith('signal.ja4h')) || name.startsWith('http.response.');
}

/** How the agent's value differs; null: it does not. */
export function agentNote(name: string): string | null {
  if (name.startsWith('http.response.')) return `${name} is not known to the agent: it does not load the rule`;
  if (isUnknownToAgent(name)) return `${name} is always empty or 0 at the agent when it runs WAF rules`;
  return NOTES[name] ?? null;
}

const NOTES: Readonly<Record<string, string>> = {
  'http.request.host': 'http.request.host is always "localhost" at the agent; the Host header is http.request.headers["host"][0]',
  'http.request.scheme': 'http.request.scheme is always "http" at the agent',
  'http.request.port': 'http.request.port is always 80 at the agent',
  'http.request.uri': 'http.request.uri always begins with "http://localhost/" at the agent; path and query are fields of their own',
  'http.request.body': 'http.request.body is always empty at the agent',
  'http.request.body_sha256': 'http.request.body_sha256 is always the hash of an empty body at the agent',
  'signal.ja4h_version': 'signal.ja4h_version is always "11" at the agent',
};
