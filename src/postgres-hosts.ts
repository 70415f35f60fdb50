/** `DATABASE_URL` with several hosts, as libpq takes it: `postgres://user@one:5432,two:5432/db?target_session_attrs=read-write` (SPEC D34.1). */

const FORM = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)([^#]*)$/;
const ATTRIBUTES = /([?&])target_session_attrs=([^&]*)&?/;
/** What libpq calls a host that takes writes: weir can do with no other. */
const WRITABLE: readonly unknown[] = ['read-write', 'primary', undefined];

/** An address for each host, in their order; undefined for what is none of PostgreSQL, or asks for a host that takes no writes. */
export function postgresHosts(url: string): string[] | undefined {
  const [, before, hosts = '', after = ''] = FORM.exec(url) ?? [];
  if (before === undefined || !WRITABLE.includes(ATTRIBUTES.exec(after)?.[2])) return undefined;
  const rest = after.replace(ATTRIBUTES, '$1').replace(/[?&]$/, '');
  const names = hosts.split(',');
  const each = names.map((host) => `${before}${host}${rest}`);
  return each.every((one) => URL.canParse(one)) && (names.length === 1 || names.every(Boolean)) ? each : undefined;
}
