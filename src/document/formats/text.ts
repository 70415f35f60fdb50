import type { FeedHeading, Render } from './format.ts';
import { type BodyPart, PLACEHOLDER } from './stamp.ts';
import { type TextBlock, TextBlocks } from './text-blocks.ts';

/** Whole lines above the networks. In `{ before, after }` the instant at which the content first appeared stands between the two. */
type Header = string | { readonly before: string; readonly after: string };

/** How networks are written one after the other. */
interface TextLayout {
  /** Shown also when there are no networks. */
  readonly header?: (heading: FeedHeading, count: number) => Header;
  /** What stands before, between and after the networks; nothing of it when there are none. */
  readonly head: string;
  readonly separator: string;
  readonly tail: string;
}

/** A format that writes each network with its prefix length (spec 4.5). */
export function textFormat({ header, head, separator, tail }: TextLayout): Render {
  const [between, end] = [encoder.encode(separator), encoder.encode(tail)];
  return ({ classes, count }, heading, kept = new TextBlocks()) => {
    const lines = header?.(heading, count) ?? '';
    const isStamped = typeof lines !== 'string';
    const above = isStamped ? `${lines.before}${PLACEHOLDER}${lines.after}` : lines;
    const stampsAt = isStamped ? [Buffer.byteLength(lines.before)] : [];
    const { v4 = null, v6 = null } = classes[0] ?? {};
    const blocks = kept.update(v4, v6, between);
    return blocks.length === 0
      ? { bytes: encoder.encode(above), stampsAt }
      : { ...joined(encoder.encode(above + head), blocks, between.length, end), stampsAt };
  };
}

const encoder = new TextEncoder();

/** Blocks between a head and a tail, which takes the place of the last separator. */
function joined(head: Uint8Array, blocks: readonly TextBlock[], separatorLength: number, tail: Uint8Array) {
  const length = blocks.reduce((sum, { text }) => sum + text.length, head.length - separatorLength + tail.length);
  const bytes = new Uint8Array(length);
  const parts: BodyPart[] = head.length > 0 ? [{ to: head.length, name: undefined }] : [];
  let at = head.length;
  bytes.set(head);
  for (const [i, { text, name }] of blocks.entries()) {
    const isLast = i === blocks.length - 1;
    bytes.set(isLast ? text.subarray(0, text.length - separatorLength) : text, at);
    at += text.length;
    parts.push(isLast ? { to: length, name: `${name} last` } : { to: at, name });
  }
  bytes.set(tail, length - tail.length);
  return { bytes, parts };
}

const COMMENT_LENGTH = 200;

/** One comment line without its line break, whatever the text holds: a line break in it would let it forge entries. */
export function comment(text: string): string {
  const line = Array.from(text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' '))
    .slice(0, COMMENT_LENGTH)
    .join('');
  return line === '' ? '#' : `# ${line}`;
}
