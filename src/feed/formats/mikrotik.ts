/** A script for `/import` of MikroTik RouterOS 7 (SPEC D58). The router executes it: every text is escaped. */
import type { CidrsV4, CidrsV6 } from '@weir/network/coalesce.ts';
import { renderCidrs } from '@weir/network/render.ts';
import type { FeedHeading, FeedNetworks } from './format.ts';
import type { DocumentText } from './stamp.ts';

const encoder = new TextEncoder();
const PLAIN = /^[A-Za-z0-9 ._:-]$/;

/** A string literal of RouterOS, also in a comment: all other bytes as `\XX`. */
export function routerText(text: string): string {
  const bytes = Array.from(encoder.encode(text), (byte) => {
    const character = String.fromCharCode(byte);
    return PLAIN.test(character) ? character : `\\${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  });
  return `"${bytes.join('')}"`;
}

const MENUS = { v4: '/ip/firewall/address-list', v6: '/ipv6/firewall/address-list' } as const;
const WHOLE = 'whole';

/**
 * Fills the one of two address lists that is not complete, then empties the other one. One short command a network; nothing is removed
 * before the last one has been added, whenever the import ends.
 */
export function renderMikrotik({ classes }: FeedNetworks, { name, action, family }: FeedHeading): DocumentText {
  const { v4 = null, v6 = null } = classes[0] ?? {};
  const texts = [
    encoder.encode(`# weir, ${action} feed ${routerText(name)}\n`),
    ...(family === 'v6' ? [] : section('v4', name, action, v4, null)),
    ...(family === 'v4' ? [] : section('v6', name, action, null, v6)),
  ];
  const bytes = new Uint8Array(texts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const text of texts) {
    bytes.set(text, at);
    at += text.length;
  }
  return { bytes, stampsAt: [] };
}

function section(family: 'v4' | 'v6', name: string, action: string, v4: CidrsV4 | null, v6: CidrsV6 | null): Uint8Array[] {
  const menu = MENUS[family];
  const [a, b] = ['a', 'b'].map((which) => routerText(`weir:${action}:${name}:${which}`));
  const marked = (list: string) => `[${menu}/find list=${list} comment=${WHOLE}]`;
  const add = `${menu}/add list=$weirNew address=`;
  const before = [
    `:global weirOld ${a}`,
    `:global weirNew ${b}`,
    `:if ([:len ${marked(b!)}] > 0) do={ :set weirOld ${b}; :set weirNew ${a} }`,
    `${menu}/remove [${menu}/find list=$weirNew]`,
  ];
  const after = [`${menu}/set ${marked('$weirOld')} comment=""`, `${menu}/remove [${menu}/find list=$weirOld]`];
  const isEmpty = (v4?.length ?? 0) + (v6?.length ?? 0) === 0;
  const head = `${before.join('\n')}\n${isEmpty ? '' : add}`;
  return [renderCidrs(v4, v6, { head, separator: `\n${add}`, tail: `${isEmpty ? '' : ` comment=${WHOLE}\n`}${after.join('\n')}\n` })];
}
