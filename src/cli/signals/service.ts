import { WeirError } from '../../errors.ts';
import type { Context } from '../context.ts';

/** Throws USAGE. */
export function readKey(key: string | undefined): string {
  if (!key) throw new WeirError('USAGE', 'give an API key with --key or in WEIR_API_KEY');
  if (!/^[\x21-\x7e]+$/.test(key)) throw new WeirError('USAGE', 'an API key has visible ASCII characters only');
  return key;
}

/** A command's own `--url`, else the global one, else WEIR_URL. Throws USAGE. */
export function serviceUrl({ url }: Context, own: URL | undefined): URL {
  if (own === undefined && url === undefined) throw new WeirError('USAGE', 'give the address of the service with --url or in WEIR_URL');
  return (own ?? url)!;
}

/** Throws USAGE. */
export function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new WeirError('USAGE', '--url must be an address that begins with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw new WeirError('USAGE', '--url takes no user or password; give the key in WEIR_API_KEY or with --key');
  if (/[?#]/.test(text)) throw new WeirError('USAGE', '--url takes no query and no fragment; name a list with --list');
  return url;
}
