/** One row per kind of device (SPEC D25.1). A target sets the defaults of format, family, host style and entry cap. */

/** With prefix length, or bare: the addresses of larger networks one by one. */
export const HOST_STYLES = ['cidr', 'bare'] as const;
export type HostStyle = (typeof HOST_STYLES)[number];

export interface Target {
  readonly title: string;
  readonly format: string;
  readonly family: 'v4' | 'v6' | 'both';
  readonly hostStyle: HostStyle;
  /** null: not documented by the vendor. */
  readonly maxEntries: number | null;
  /** Whether the limit is per list, or for all lists of the device. */
  readonly counts: 'list' | 'device';
  readonly beyond: string;
  readonly empty: string;
  /** Source of the numbers, and the date read (YYYY-MM-DD). */
  readonly source: string;
  readonly readAt: string;
  /** Below docs/. */
  readonly page: string;
}

const READ = '2026-11-22';
const UNKNOWN = 'not documented by the vendor: ask for the number and set max_entries';
const PLAIN = { format: 'plain', family: 'both', hostStyle: 'cidr', readAt: READ } as const;
const PAN = {
  ...PLAIN,
  counts: 'device',
  beyond: 'the rest is skipped, with a line in the system log',
  empty: 'not documented by the vendor',
  page: 'appliances/palo-alto.md',
} as const;
const FORTIOS = { ...PLAIN, beyond: 'the rest is cut off', empty: 'nothing is blocked', page: 'appliances/fortigate.md' } as const;

const ROWS = {
  'pan-os': {
    ...PAN,
    title: 'Palo Alto PAN-OS, all models except those of pan-os-large',
    maxEntries: 50_000,
    source: 'PAN-OS 7.1 and 9.0, external dynamic lists',
  },
  'pan-os-large': {
    ...PAN,
    title: 'Palo Alto PA-5000, PA-5200, PA-7000',
    maxEntries: 150_000,
    source: 'PAN-OS 7.1 and 9.0, external dynamic lists',
  },
  'fortios-7.4.3': {
    ...FORTIOS,
    title: 'FortiGate with FortiOS before 7.4.4',
    maxEntries: 131_072,
    counts: 'list',
    source: 'Fortinet KB 378964',
  },
  fortios: {
    ...FORTIOS,
    title: 'FortiGate with FortiOS 7.4.4 to 7.6.2',
    maxEntries: 300_000,
    counts: 'device',
    source: 'FortiOS 7.4 new features 677896',
  },
  'fortios-7.6.3': {
    ...FORTIOS,
    title: 'FortiGate with FortiOS 7.6.3 and newer',
    maxEntries: null,
    counts: 'device',
    source: 'by model since 7.6.3 (Fortinet KB 378964 has no numbers): read the maximum values of yours and set max_entries',
    readAt: '2026-11-27',
  },
  unifi: {
    ...PLAIN,
    title: 'UniFi gateway, through a bouncer that fills its ipset',
    family: 'v4',
    maxEntries: 15_000,
    counts: 'device',
    beyond: 'the Network application becomes unstable; users saw it stop at 120,000',
    empty: 'the set is empty',
    source: 'no number of the vendor; users recommend 15,000 (UDR) to 50,000 (UDM SE): wolffcatskyy/crowdsec-blocklist-import#22',
    readAt: '2026-11-27',
    page: 'appliances/README.md#unifi',
  },
  'cloudflare-list': {
    ...PLAIN,
    title: 'Cloudflare list, filled by a script',
    family: 'v4',
    maxEntries: 10_000,
    counts: 'device',
    beyond: 'the items beyond it are refused',
    empty: 'the list is empty',
    source: 'Cloudflare: 10,000 items per account on most plans; IPv4 /8 to /32, IPv6 /12 to /64',
    readAt: '2026-11-27',
    page: 'appliances/README.md#cloudflare-lists',
  },
  'check-point': {
    ...PLAIN,
    title: 'Check Point network feed, R81.20 and newer',
    maxEntries: null,
    counts: 'list',
    beyond: 'depends on its memory',
    empty: 'not documented by the vendor',
    source: UNKNOWN,
    page: 'appliances/check-point.md',
  },
  'check-point-ioc': {
    ...PLAIN,
    title: 'Check Point IoC feed',
    format: 'csv_indicator',
    family: 'v4',
    maxEntries: 2_000_000,
    counts: 'device',
    beyond: 'the feed is not loaded',
    empty: 'not documented by the vendor',
    source: 'R81.20 and R82 guides: with half of the memory free',
    page: 'appliances/check-point.md',
  },
  'cisco-fmc': {
    ...PLAIN,
    title: 'Cisco Secure Firewall, security intelligence feed',
    maxEntries: null,
    counts: 'list',
    beyond: 'a file over 500 MB is rejected',
    empty: 'it keeps its last copy',
    source: 'FireSIGHT 5.5 guide: 500 MB, no number of entries',
    page: 'appliances/cisco.md',
  },
  srx: {
    ...PLAIN,
    title: 'Juniper SRX feed server',
    maxEntries: null,
    counts: 'device',
    beyond: 'it depends on the model',
    empty: 'not documented by the vendor',
    source: UNKNOWN,
    page: 'appliances/juniper.md',
  },
  sophos: {
    ...PLAIN,
    title: 'Sophos Firewall 21 and newer, third-party threat feed',
    family: 'v4',
    hostStyle: 'bare',
    maxEntries: null,
    counts: 'list',
    beyond: 'not documented by the vendor',
    empty: 'not documented by the vendor',
    source: `Sophos 21.0 requirements; ${UNKNOWN}`,
    page: 'appliances/sophos.md',
  },
  'sonicwall-tz': {
    ...PLAIN,
    title: 'SonicWall TZ and NSv, dynamic IoC files',
    hostStyle: 'bare',
    family: 'v4',
    maxEntries: 25_000,
    counts: 'device',
    beyond: 'not documented by the vendor',
    empty: 'not documented by the vendor',
    source: 'SonicOS 8 guides',
    page: 'appliances/sonicwall.md',
  },
  'sonicwall-nsa': {
    ...PLAIN,
    title: 'SonicWall NSa, dynamic IoC files',
    hostStyle: 'bare',
    family: 'v4',
    maxEntries: 50_000,
    counts: 'device',
    beyond: 'not documented by the vendor',
    empty: 'not documented by the vendor',
    source: 'SonicOS 8 guides',
    page: 'appliances/sonicwall.md',
  },
  opnsense: {
    ...PLAIN,
    title: 'OPNsense, URL table',
    maxEntries: 1_000_000,
    counts: 'device',
    beyond: 'the table stays empty: nothing is blocked',
    empty: 'nothing is blocked',
    source: 'opnsense/core#9110; Firewall Maximum Table Entries, all tables together',
    page: 'appliances/opnsense.md',
  },
  mikrotik: {
    ...PLAIN,
    title: 'MikroTik RouterOS, by a script that reads plain',
    family: 'v4',
    maxEntries: 3300,
    counts: 'device',
    beyond: 'a variable holds 63 KiB: the rest is cut without an error',
    empty: 'the script keeps the list',
    source: '63 KiB of the longest IPv4 networks',
    page: 'appliances/mikrotik.md',
  },
  'mikrotik-rsc': {
    ...PLAIN,
    title: 'MikroTik RouterOS 7, by importing a script',
    format: 'mikrotik',
    maxEntries: null,
    counts: 'device',
    beyond: 'it depends on the memory; users report trouble from 15,000 entries on small models',
    empty: 'the address list is empty',
    source: UNKNOWN,
    page: 'appliances/mikrotik.md',
  },
  nftables: {
    ...PLAIN,
    title: 'nftables, one set for IPv4',
    format: 'set_elements',
    family: 'v4',
    maxEntries: null,
    counts: 'list',
    beyond: 'if memory runs out, the new set is refused and the old one stays',
    empty: 'the set is empty',
    source: 'no number: the kernel’s memory',
    page: 'appliances/nftables.md',
  },
  ipset: {
    ...PLAIN,
    title: 'ipset, one set for IPv4 with its default maxelem',
    family: 'v4',
    maxEntries: 65_536,
    counts: 'list',
    beyond: 'the complete set is refused',
    empty: 'the script keeps the set or empties it: your choice',
    source: 'ipset(8): maxelem 65536',
    page: 'appliances/ipset.md',
  },
} satisfies Readonly<Record<string, Target>>;

export type TargetName = keyof typeof ROWS;

export const TARGETS: Readonly<Record<string, Target>> = ROWS;
export const TARGET_NAMES = Object.keys(ROWS) as readonly TargetName[];

/** The feed's own, else the target's; null: neither. */
export interface Served {
  readonly format: string | null;
  readonly family: string | null;
  readonly hostStyle: HostStyle | null;
  readonly maxEntries: number | null;
}

export function servedAs({ target, format, family, hostStyle, maxEntries }: Served & { readonly target: string | null }): Served {
  const row = target === null ? undefined : TARGETS[target];
  return {
    format: format ?? row?.format ?? null,
    family: family ?? row?.family ?? null,
    hostStyle: hostStyle ?? row?.hostStyle ?? null,
    maxEntries: maxEntries ?? row?.maxEntries ?? null,
  };
}
