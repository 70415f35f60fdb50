import type { Group } from './errors.ts';

const CREDENTIALS = /^(bearer|basic) +([^ ]+) *$/i;
const KEY = /^[\x21-\x7e]{8,64}$/;

/** How each group may be asked: feeds also by HTTP Basic, for devices that know nothing else (spec 5). */
export const CHALLENGES: Record<Group, string[]> = {
  signal: ['Bearer'],
  feed: ['Basic realm="threat-feed", charset="UTF-8"', 'Bearer'],
};

/** The API key in an Authorization header; undefined when there is none that this group accepts. */
export function readKey(group: Group, authorization: string | undefined): string | undefined {
  const [, scheme, credentials] = CREDENTIALS.exec(authorization ?? '') ?? [];
  if (scheme === undefined) return undefined;
  const key = scheme.length === 'bearer'.length ? credentials : group === 'feed' ? basicPassword(credentials) : undefined;
  return key !== undefined && KEY.test(key) ? key : undefined;
}

/** The password of the user `api`: all that comes after the first colon. */
function basicPassword(credentials: string): string | undefined {
  const text = Buffer.from(credentials, 'base64').toString();
  return text.startsWith('api:') ? text.slice('api:'.length) : undefined;
}
