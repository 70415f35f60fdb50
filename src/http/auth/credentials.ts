import type { IncomingHttpHeaders } from 'node:http';
import type { Group } from '../errors.ts';

const BEARER = /^bearer +[\x21-\x7e]{8,64} *$/i;
const BASIC = /^basic +([^ ]+) *$/i;
/** The user `api`; the password is everything after the first colon. */
const USER = /^api:([\x21-\x7e]{8,64})$/;

/** The WWW-Authenticate challenges of each group (spec 5). Feeds also take HTTP Basic, for devices that know nothing else. */
export const CHALLENGES: Record<Group, string[]> = {
  signal: ['Bearer'],
  rules: ['Bearer'],
  agent: ['Bearer'],
  bouncer: ['Bearer'],
  manage: ['Bearer'],
  feed: ['Basic realm="threat-feed", charset="UTF-8"', 'Bearer'],
};

/** What a request to a group shows, as an Authorization header has it: bouncers send their key in a header of their own. */
export const shownIn = (group: Group, { authorization, 'x-api-key': key }: IncomingHttpHeaders): string | undefined =>
  group === 'bouncer' && key !== undefined ? `Bearer ${key}` : authorization;

/** The API key in an Authorization header; undefined when it holds none in a form that the group accepts. */
export function readKey(group: Group, authorization = ''): string | undefined {
  if (BEARER.test(authorization)) return authorization.slice('bearer '.length).trim();
  if (group !== 'feed') return undefined;
  const credentials = BASIC.exec(authorization)?.[1];
  return credentials === undefined ? undefined : USER.exec(decodeBase64(credentials))?.[1];
}

/** Strictly base64, a character for each byte, else ''. The decoder skips white space and odd bits, and one key would have many spellings. */
function decodeBase64(text: string): string {
  try {
    const decoded = atob(text);
    return btoa(decoded) === text ? decoded : '';
  } catch {
    return '';
  }
}
