/** Signed feeds of another weir as sources (SPEC D63.8). */
import { isSignedBy, SIGNATURE_BEGIN } from '../account/secrets/signature.ts';
import type { SourceReading } from '../account/source.ts';
import { WeirError } from '../errors.ts';
import { formatOf } from '../feed/formats/table.ts';
import { FAMILIES } from '../feed/variant.ts';

export interface Signed {
  /** `ssh-ed25519 BASE64` */
  readonly signers: readonly string[];
  /** Date of the newest signed content so far, s since 1970. */
  readonly after: number;
}

export const signedAfter = ({ signers }: Pick<SourceReading, 'signers'>, after: number): Signed | undefined =>
  signers.length === 0 ? undefined : { signers, after };

/** The feed that a URL names (undefined: the workspace's); a text: why it names none, as the rest of a sentence. */
export function signedFeedOf(url: string): { readonly feed: string | undefined; readonly variant: string } | string {
  const { pathname, searchParams } = new URL(url);
  const [path, name] = /\/v1\/threat\/feeds(?:\/([^/]+))?\/?$/.exec(pathname) ?? [];
  const format = formatOf(searchParams.get('format') ?? '');
  const family = FAMILIES.find((each) => each === searchParams.get('family'));
  if (path === undefined) return 'must be a feed of weir, …/v1/threat/feeds/NAME, to be signed';
  if (format === undefined || family === undefined)
    return 'must name format and family of the feed, to be signed: ?format=plain&family=both';
  // Unlike decodeURIComponent, this accepts any text.
  const feed = name && new URLSearchParams(`name=${name.replace(/[&+]/g, encodeURIComponent)}`).get('name')!;
  return { feed, variant: `${format} ${family} ${searchParams.get('action') ?? 'block'}` };
}

export const statementUrl = (url: string): string => {
  const signed = new URL(url);
  signed.searchParams.set('signature', 'ssh');
  return signed.href;
};

/** The content that a signed statement is about. Throws FETCH if it is not signed, or about something else. `now` in ms. */
export function readStatement(text: string, url: string, { signers, after }: Signed, now: number): { sha256: string; modified: number } {
  const at = text.lastIndexOf(SIGNATURE_BEGIN);
  const [statement, signature] = [text.slice(0, at), text.slice(at)];
  const refuse = (why: string) => new WeirError('FETCH', `${url}: ${why}`);
  if (at < 0 || !isSignedBy(signers, statement, signature)) throw refuse('none of its signers has signed it');
  const [kind, ...lines] = statement.split('\n');
  const about = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]));
  const asked = signedFeedOf(url) as Exclude<ReturnType<typeof signedFeedOf>, string>;
  if (kind !== 'weir feed 1') throw refuse('its statement has an unknown version');
  const isNamed = asked.feed === about.name || asked.feed?.toLowerCase() === about.feed;
  if (about.feed === 'workspace' ? asked.feed !== undefined : !isNamed) throw refuse('its signature is about another feed');
  if (`${about.format} ${about.family} ${about.action}` !== asked.variant)
    throw refuse('its signature is about another format, family or action');
  if (!(Number(about['not-after']) * 1000 > now)) throw refuse('its signature has expired: it is a replay, or a clock is wrong');
  const modified = Number(about['last-modified']);
  if (modified !== 0 && !(modified >= after)) throw refuse('its content is older than before');
  return { sha256: about.sha256!, modified: Math.max(modified, after) };
}
