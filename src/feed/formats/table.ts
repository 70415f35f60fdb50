import { createHash } from 'node:crypto';
import { renderCidrs } from '../../network/render.ts';
import type { Content } from '../build/content.ts';
import type { Format, Variant } from '../variant.ts';
import { renderCsv } from './csv.ts';

/** What a commented feed is headed with: a list's name and description, or a workspace's. */
interface Title {
  readonly name: string;
  readonly description: string | null;
}

/** A body that is whole but for the instant at which its content first appeared. */
export interface FeedText {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where that instant stands (20 bytes); undefined when the format shows none. */
  readonly stampAt: number | undefined;
}

type Render = (content: Content, variant: Variant, title: Title) => FeedText;

/** A body without bytes. Always a new one: its buffer is handed to another thread, which takes it away here. */
const nothing = () => new Uint8Array(0);
const STAMP = '0000-00-00T00:00:00Z';
const TITLE_LENGTH = 200;

/** The networks of a content of one class, one after the other; only `head` when there are none. */
function networks({ classes }: Content, separator: string, head: string, tail: string): Uint8Array<ArrayBuffer> {
  const { v4 = null, v6 = null } = classes[0] ?? {};
  return renderCidrs(v4, v6, { separator, head, tail });
}

/** The dialects (spec 4.5, decisions on the empty feed). Only csv_indicator takes contents of several classes. */
const RENDERERS: Readonly<Record<Format, Render>> = {
  plain: (content) => unstamped(content.count === 0 ? nothing() : networks(content, '\n', '', '\n')),

  commented(content, { action, family }, { name, description }) {
    const titles = [comment(name), comment(description ?? ''), `# action: ${action}`, `# family: ${family}`];
    const beforeStamp = `${titles.join('\n')}\n# generated: `;
    const head = `${beforeStamp}${STAMP}\n# entries: ${content.count}\n`;
    return { bytes: networks(content, '\n', head, content.count === 0 ? '' : '\n'), stampAt: Buffer.byteLength(beforeStamp) };
  },

  csv_indicator: ({ classes }) => unstamped(renderCsv(classes)),

  // nft refuses an empty set of elements and takes an empty file.
  set_elements: (content) => unstamped(content.count === 0 ? nothing() : networks(content, ', ', 'elements = { ', ' }\n')),
};

/** The content in the variant's dialect. */
export function renderFeed(content: Content, variant: Variant, title: Title): FeedText {
  return RENDERERS[variant.format](content, variant, title);
}

/** Names the text whenever it appears: SHA-256, hexadecimal, of all but the instant. */
export function contentHash({ bytes, stampAt }: FeedText): string {
  const hash = createHash('sha256');
  if (stampAt === undefined) return hash.update(bytes).digest('hex');
  return hash
    .update(bytes.subarray(0, stampAt))
    .update(bytes.subarray(stampAt + STAMP.length))
    .digest('hex');
}

/** Writes into the text when its content first appeared, whole seconds since 1970. */
export function stampFeed({ bytes, stampAt }: FeedText, second: number): void {
  if (stampAt === undefined) return;
  const instant = new Date(second * 1000).toISOString().replace('.000Z', 'Z');
  bytes.set(Buffer.from(instant, 'latin1'), stampAt);
}

const unstamped = (bytes: Uint8Array<ArrayBuffer>): FeedText => ({ bytes, stampAt: undefined });

/** One comment line, whatever the text holds: a line break in it would let it forge entries. */
function comment(text: string): string {
  const line = Array.from(text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' '))
    .slice(0, TITLE_LENGTH)
    .join('');
  return line === '' ? '#' : `# ${line}`;
}
