import { renderCidrs } from '../../network/render.ts';
import type { FeedHeading, Render } from './format.ts';
import { PLACEHOLDER } from './stamp.ts';

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
  return ({ classes, count }, heading) => {
    const lines = header?.(heading, count) ?? '';
    const isStamped = typeof lines !== 'string';
    const above = isStamped ? `${lines.before}${PLACEHOLDER}${lines.after}` : lines;
    const { v4 = null, v6 = null } = classes[0] ?? {};
    const layout = count === 0 ? { separator, head: above, tail: '' } : { separator, head: above + head, tail };
    return { bytes: renderCidrs(v4, v6, layout), stampsAt: isStamped ? [Buffer.byteLength(lines.before)] : [] };
  };
}

const COMMENT_LENGTH = 200;

/** One comment line without its line break, whatever the text holds: a line break in it would let it forge entries. */
export function comment(text: string): string {
  const line = Array.from(text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' '))
    .slice(0, COMMENT_LENGTH)
    .join('');
  return line === '' ? '#' : `# ${line}`;
}
