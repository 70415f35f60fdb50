/** HTML in documents becomes text (SPEC D18.74). */
import { Marked, type Tokens } from 'marked';

export interface Rendered {
  readonly title: string;
  /** Headings. */
  readonly parts: readonly { readonly id: string; readonly text: string }[];
  readonly html: string;
}

/** Maps a link to an address; undefined: render as text. */
export type Resolve = (href: string) => string | undefined;

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (each) => ESCAPES[each]!);

/** Same anchors as code hosting platforms. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const plain = (heading: string): string => heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');

const isElsewhere = (href: string) => /^[a-z]+:/i.test(href);

export function render(text: string, resolve: Resolve): Rendered {
  const parts: { id: string; text: string }[] = [];
  const used = new Map<string, number>();
  let title = '';
  const idOf = (heading: string) => {
    const anchor = anchorOf(heading);
    const before = used.get(anchor) ?? 0;
    used.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  };
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text: heading }: Tokens.Heading) {
        const id = idOf(heading);
        if (depth === 1 && title === '') title = plain(heading);
        if (depth === 2) parts.push({ id, text: plain(heading) });
        return `<h${depth} id="${escaped(id)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const inside = this.parser.parseInline(tokens);
        const to = isElsewhere(href) ? (/^https?:/i.test(href) ? href : undefined) : resolve(href);
        return to === undefined ? inside : `<a href="${escaped(to)}">${inside}</a>`;
      },
      image({ href, text: what }: Tokens.Image) {
        const from = isElsewhere(href) ? undefined : resolve(href);
        return from === undefined ? escaped(what) : `<img src="${escaped(from)}" alt="${escaped(what)}" loading="lazy">`;
      },
      code({ text: code }: Tokens.Code) {
        return `<pre tabindex="0"><code>${escaped(code)}</code></pre>\n`;
      },
      html({ text: raw }: Tokens.HTML | Tokens.Tag) {
        return escaped(raw);
      },
    },
    hooks: {
      // Wide tables scroll on their own.
      postprocess: (html) =>
        html.replaceAll('<table>', '<div class="table-box" tabindex="0"><table class="table">').replaceAll('</table>', '</table></div>'),
    },
  });
  const html = marked.parse(text, { async: false });
  return { title, parts, html };
}
