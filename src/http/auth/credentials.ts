import type { Group } from '../errors.ts';

const BEARER = /^bearer +([\x21-\x7e]{8,64}) *$/i;
const BASIC = /^basic +([^ ]+) *$/i;
/** The user `api`, and as the password all that comes after the first colon. */
const USER = /^api:([\x21-\x7e]{8,64})$/;

/** How each group may be asked: feeds also by HTTP Basic, for devices that know nothing else (spec 5). */
export const CHALLENGES: Record<Group, string[]> = {
  signal: ['Bearer'],
  feed: ['Basic realm="threat-feed", charset="UTF-8"', 'Bearer'],
};

/** The API key in an Authorization header; undefined when there is none that this group accepts. */
export function readKey(group: Group, authorization = ''): string | undefined {
  const key = BEARER.exec(authorization)?.[1];
  if (key !== undefined || group !== 'feed') return key;
  const credentials = BASIC.exec(authorization)?.[1];
  return credentials === undefined ? undefined : USER.exec(Buffer.from(credentials, 'base64').toString())?.[1];
}
