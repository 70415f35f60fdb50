/** `DATABASE_URL` with several hosts, as in libpq: `postgres://user@one:5432,two:5432/db?target_session_attrs=read-write` (SPEC D34.1). */

const FORM = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)([^#]*)$/;
const ATTRIBUTES = /([?&])target_session_attrs=([^&]*)&?/;
/** libpq's values for a writable host: weir needs one. */
const WRITABLE: readonly unknown[] = ['read-write', 'primary', undefined];

/** One address per host; undefined: not PostgreSQL, or a host that need not be writable. */
export function postgresHosts(url: string): string[] | undefined {
  const [, before, hosts = '', after = ''] = FORM.exec(url) ?? [];
  if (before === undefined || !WRITABLE.includes(ATTRIBUTES.exec(after)?.[2])) return undefined;
  const rest = after.replace(ATTRIBUTES, '$1').replace(/[?&]$/, '');
  const names = hosts.split(',');
  const each = names.map((host) => `${before}${host}${rest}`);
  return each.every((one) => URL.canParse(one)) && (names.length === 1 || names.every(Boolean)) ? each : undefined;
}
