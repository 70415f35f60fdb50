import type { FeedHeading, Render } from './format.ts';
import { type BodyPart, PLACEHOLDER } from './stamp.ts';
import { type TextBlock, TextBlocks } from './text-blocks.ts';

/** Complete lines. `{ before, after }` surround the Last-Modified. */
type Header = string | { readonly before: string; readonly after: string };

interface TextLayout {
  readonly header?: (heading: FeedHeading, count: number) => Header;
  /** Texts before, between and after the networks; all omitted without networks. */
  readonly head: string;
  readonly separator: string;
  readonly tail: string;
}

/** Networks with their prefix lengths (spec 4.5). */
export function textFormat({ header, head, separator, tail }: TextLayout): Render {
  const [between, end] = [encoder.encode(separator), encoder.encode(tail)];
  return ({ classes, count }, heading, cached = new TextBlocks()) => {
    const { above, stampsAt } = headerText(header?.(heading, count) ?? '');
    const { v4 = null, v6 = null } = classes[0] ?? {};
    const blocks = cached.update(v4, v6, between);
    return blocks.length === 0
      ? { bytes: encoder.encode(above), stampsAt }
      : { ...joined(encoder.encode(above + head), blocks, between.length, end), stampsAt };
  };
}

export function headed(header: (heading: FeedHeading, count: number) => Header, render: Render): Render {
  return (networks, heading, cached) => {
    const { above, stampsAt } = headerText(header(heading, networks.count));
    const head = encoder.encode(above);
    const { bytes, stampsAt: below, parts } = render(networks, heading, cached);
    const complete = new Uint8Array(head.length + bytes.length);
    complete.set(head);
    complete.set(bytes, head.length);
    return {
      bytes: complete,
      stampsAt: [...stampsAt, ...below.map((at) => at + head.length)],
      ...(parts && { parts: [{ to: head.length, name: undefined }, ...parts.map(({ to, name }) => ({ to: to + head.length, name }))] }),
    };
  };
}

function headerText(lines: Header): { readonly above: string; readonly stampsAt: readonly number[] } {
  if (typeof lines === 'string') return { above: lines, stampsAt: [] };
  return { above: `${lines.before}${PLACEHOLDER}${lines.after}`, stampsAt: [Buffer.byteLength(lines.before)] };
}

const encoder = new TextEncoder();

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

/** Replaces line breaks, which could forge entries. */
export function comment(text: string): string {
  const line = Array.from(text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' '))
    .slice(0, COMMENT_LENGTH)
    .join('');
  return line === '' ? '#' : `# ${line}`;
}
