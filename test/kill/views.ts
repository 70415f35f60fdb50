/** What each feed has to hold, told by the rules of the lists and by what is set (SPEC 4.3 to 4.6, D7.4, D7.6, D8). */
import type { Rule } from './model.ts';
import { edges, fewest, isHost, type Network, networkText } from './networks.ts';

/** All that feeds are made of. */
export interface House {
  /** Active rules, by list. */
  readonly lists: ReadonlyMap<string, readonly Rule[]>;
  readonly workspace: { readonly protect: readonly string[]; readonly subtract_allow: string };
  readonly feed: {
    readonly lists: readonly string[];
    readonly family: string | null;
    readonly subtract_allow: string;
    readonly max_entries: number | null;
  };
}

/** Targets of feeds, behind `/v1/threat/feeds`. */
export const VIEWS = [
  '',
  '?action=allow',
  '/north',
  '/north?format=csv_indicator',
  '/south?family=v4&format=set_elements',
  '/brief',
  '/mixed',
  '/origin',
] as const;
export type View = (typeof VIEWS)[number];

/** The body, or undefined where the feed is over its cap (413). */
export function bodyOf(view: View, house: House): string | undefined {
  const networks = networksOf(view, house);
  if (view === '/mixed' && networks.length > (house.feed.max_entries ?? 131_072)) return undefined;
  if (view.includes('csv')) return networks.map(row).join('');
  if (view.includes('set_elements')) return networks.length === 0 ? '' : `elements = { ${networks.map(networkText).join(', ')} }\n`;
  return networks.map((each) => `${networkText(each)}\n`).join('');
}

function row(network: Network): string {
  const [first, last] = edges(network);
  return isHost(network) ? `${first},IP,high,high\n` : `${first}-${last},IP Range,high,high\n`;
}

export function networksOf(view: View, { lists, workspace, feed }: House): Network[] {
  const of = (names: Iterable<string>, action: string) =>
    [...names]
      .flatMap((name) => lists.get(name) ?? [])
      .flatMap((rule) => (rule.target !== null && rule.action === action ? [rule.target] : []));
  const [, list] = /^\/(\w+)/.exec(view) ?? [];
  if (view === '?action=allow') return fewest(of(lists.keys(), 'allow'));
  if (list === undefined) {
    return fewest(of(lists.keys(), 'block'), [
      ...workspace.protect,
      ...(workspace.subtract_allow === 'on' ? of(lists.keys(), 'allow') : []),
    ]);
  }
  if (list !== 'mixed')
    return fewest(of([list], 'block'), workspace.protect).filter(({ family }) => !view.includes('family=v4') || family === 4);
  const never = { off: [], on: of(feed.lists, 'allow'), workspace: of(lists.keys(), 'allow') }[feed.subtract_allow]!;
  const all = fewest(of(feed.lists, 'block'), [...workspace.protect, ...never]);
  return all.filter(({ family }) => feed.family === null || feed.family === `v${family}`);
}
