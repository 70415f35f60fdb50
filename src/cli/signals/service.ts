/** The service that a command sends to. */
import { WeirError } from '../../errors.ts';

/** The API key that was given. Rejects with USAGE. */
export function readKey(key: string | undefined): string {
  if (!key) throw new WeirError('USAGE', 'give an API key with --key or in WEIR_API_KEY');
  if (!/^[\x21-\x7e]+$/.test(key)) throw new WeirError('USAGE', 'an API key has visible ASCII characters only');
  return key;
}

/** The address that was given. Rejects with USAGE. */
export function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new WeirError('USAGE', '--url must be an address that begins with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw new WeirError('USAGE', '--url takes no user or password; give the key in WEIR_API_KEY or with --key');
  if (/[?#]/.test(text)) throw new WeirError('USAGE', '--url takes no query and no fragment; name a list with --list');
  return url;
}
