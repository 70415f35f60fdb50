import type { IncomingHttpHeaders } from 'node:http';
import { GROUPS, type Group } from '../groups.ts';

const BEARER = /^bearer +[\x21-\x7e]{8,64} *$/i;
const BASIC = /^basic +([^ ]+) *$/i;
/** The password is everything after the first colon. */
const USER = /^api:([\x21-\x7e]{8,64})$/;

export function credentialsIn(group: Group, headers: IncomingHttpHeaders): string | undefined {
  const { keyHeader } = GROUPS[group];
  const key = keyHeader && headers[keyHeader];
  return key === undefined ? headers.authorization : `Bearer ${key}`;
}

/** undefined: no key in a form that the group accepts. */
export function readKey(group: Group, authorization = ''): string | undefined {
  if (BEARER.test(authorization)) return authorization.slice('bearer '.length).trim();
  if (!GROUPS[group].acceptsBasic) return undefined;
  const credentials = BASIC.exec(authorization)?.[1];
  return credentials === undefined ? undefined : USER.exec(decodeBase64(credentials))?.[1];
}

/** Strict base64, one character per byte, else ''. The lenient decoder would accept several spellings of one key. */
function decodeBase64(text: string): string {
  try {
    const decoded = atob(text);
    return btoa(decoded) === text ? decoded : '';
  } catch {
    return '';
  }
}
