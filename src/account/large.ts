/** Changes so large that one mistake in them cuts customers off (SPEC D64). */
import { DAY } from '../clock.ts';
import type { Target } from '../rule.ts';
import { LIST_SETTINGS, type ListSetting, type ListSettings } from './list.ts';

/** Which changes can be large: none, all except signals, all. */
const LARGE = ['none', 'changes', 'all'] as const;
type Which = (typeof LARGE)[number];

/** null = the default. Canaries: those of the workspace's own feed. */
export interface LargeSettings extends Pick<ListSettings, 'canaryKeys' | 'canaryMinutes'> {
  readonly large: Which | null;
  /** More than this is large; an IPv6 /64 counts as one address. */
  readonly largeAddresses: number | null;
  /** Networks of a feed, added and removed. */
  readonly largeNetworks: number | null;
  /** The same in percent of the feed before. */
  readonly largePercent: number | null;
  /** Changes over these second limits wait for another person (SPEC D67); default: none do. */
  readonly approval: Which | null;
  readonly approvalAddresses: number | null;
  /** Rules of a change. */
  readonly approvalRules: number | null;
  /** The same in percent of the rules of its lists before. */
  readonly approvalPercent: number | null;
}

/** A /16. */
export const LARGE_ADDRESSES = 65_536;

/** A new setting needs a row here, a member above and a column in a migration. */
export const LARGE_SETTINGS: Readonly<Record<keyof LargeSettings, ListSetting>> = {
  large: {
    field: 'large',
    value: 'which',
    words: LARGE,
    help: 'which changes count as large: none, changes (everything except signals; default), all',
  },
  largeAddresses: {
    field: 'large_addresses',
    value: 'count',
    least: 1,
    most: 2 ** 32,
    help: `a change of more addresses is large; default: ${LARGE_ADDRESSES.toLocaleString('en')}`,
  },
  largeNetworks: {
    field: 'large_networks',
    value: 'count',
    least: 1,
    most: 4_000_000,
    help: 'a change of more networks of a feed is large; default: any number',
  },
  largePercent: {
    field: 'large_percent',
    value: 'percent',
    least: 1,
    most: 100,
    help: 'a change of more percent of the networks of a feed is large; default: any share',
  },
  approval: {
    field: 'approval',
    value: 'which',
    words: LARGE,
    help: 'which changes wait for a second person beyond the limits below: none (default), changes (everything except signals), all',
  },
  approvalAddresses: {
    field: 'approval_addresses',
    value: 'count',
    least: 1,
    most: 2 ** 32,
    help: `a change of more addresses needs approval; default: ${LARGE_ADDRESSES.toLocaleString('en')}`,
  },
  approvalRules: {
    field: 'approval_rules',
    value: 'count',
    least: 1,
    most: 4_000_000,
    help: 'a change of more rules needs approval; default: any number',
  },
  approvalPercent: {
    field: 'approval_percent',
    value: 'percent',
    least: 1,
    most: 100,
    help: 'a change of more percent of the rules of its lists needs approval; default: any share',
  },
  canaryKeys: LIST_SETTINGS.canaryKeys,
  canaryMinutes: LIST_SETTINGS.canaryMinutes,
};

const NAMES = Object.keys(LARGE_SETTINGS) as readonly (keyof LargeSettings)[];

export const largeSettingsOf = (row: Readonly<Record<string, unknown>>): LargeSettings =>
  Object.fromEntries(
    NAMES.map((name) => {
      const value = row[LARGE_SETTINGS[name].field] ?? null;
      return [name, value !== null && 'least' in LARGE_SETTINGS[name] ? Number(value) : value];
    }),
  ) as unknown as LargeSettings;

export const NO_LARGE_SETTINGS: LargeSettings = largeSettingsOf({});

export const largeSettingsJson = (settings: LargeSettings): Record<string, string | number | null> =>
  Object.fromEntries(NAMES.map((name) => [LARGE_SETTINGS[name].field, settings[name]]));

/** Signals of one key count together for this time, ms. */
export const RECENT = 600_000;

/** Undoing, discarding, deleting or unblocking younger changes is never large, ms. */
export const WAY_BACK = DAY;

export const isWayBack = (addedAt: number, now: number): boolean => now - addedAt <= WAY_BACK;

/** 0 for a country or ASN: it is large by itself. */
export const addressesOf = (target: Target): number =>
  target.kind === 'ip' ? 2 ** Math.max(0, (target.network.family === 4 ? 32 : 64) - target.network.prefix) : 0;

export interface ChangeSize {
  readonly isSignal: boolean;
  /** Of the change; for signals with the ones of the same sender in the last `RECENT`. */
  readonly addresses: number;
  /** Countries and ASNs. */
  readonly places: number;
  /** Networks added to and removed from the feed with the largest change. */
  readonly networks?: number | undefined;
  /** Networks of this feed before. */
  readonly before?: number | undefined;
}

/** Why the change is large, for people; undefined: it is not. Pure: times are the caller's. */
export function largeReason(
  { large, largeAddresses, largeNetworks, largePercent }: Omit<LargeSettings, `approval${string}` | `canary${string}`>,
  { isSignal, addresses, places, networks = 0, before }: ChangeSize,
): string | undefined {
  if (large === 'none' || (isSignal && large !== 'all')) return undefined;
  if (places > 0) return places === 1 ? 'a country or ASN' : `${places.toLocaleString('en')} countries and ASNs`;
  const limit = largeAddresses ?? LARGE_ADDRESSES;
  if (addresses > limit) return over(addresses, 'addresses', limit);
  if (largeNetworks !== null && networks > largeNetworks) return over(networks, 'networks', largeNetworks);
  // A feed without networks has nothing to lose.
  if (largePercent === null || before === undefined || before === 0 || networks * 100 <= largePercent * before) return undefined;
  return `${over(networks, 'networks', largePercent)}% of ${before.toLocaleString('en')}`;
}

const over = (count: number, what: string, limit: number) =>
  `${count.toLocaleString('en')} ${what}, more than ${limit.toLocaleString('en')}`;

/** The second limits as limits of large changes. */
export const approvalReason = (settings: LargeSettings, size: ChangeSize): string | undefined =>
  largeReason(
    {
      large: settings.approval ?? 'none',
      largeAddresses: settings.approvalAddresses,
      largeNetworks: settings.approvalRules,
      largePercent: settings.approvalPercent,
    },
    size,
  );

/** Whether fewer changes would need approval. */
export function isLooser(before: LargeSettings, after: LargeSettings): boolean {
  const strictness = ({ approval }: LargeSettings) => LARGE.indexOf(approval ?? 'none');
  const limits = ({ approvalAddresses, approvalRules, approvalPercent }: LargeSettings) => [
    approvalAddresses ?? LARGE_ADDRESSES,
    approvalRules ?? Number.POSITIVE_INFINITY,
    approvalPercent ?? Number.POSITIVE_INFINITY,
  ];
  if (strictness(before) === 0) return false;
  return strictness(after) < strictness(before) || limits(after).some((limit, i) => limit > limits(before)[i]!);
}
