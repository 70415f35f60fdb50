/** Only data (SPEC D23.40): nothing is active by default, and no list's content is shipped. */
import type { CatalogueRow } from './catalogue-row.ts';
import { hostName } from './host.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const HOSTS = { minPrefixV4: 24, minPrefixV6: 48 } as const;
const V6_OPERATORS = { minPrefixV6: 24 } as const;

const SPAMHAUS = {
  purpose: 'block',
  minPrefixV4: 10,
  ...V6_OPERATORS,
  every: DAY,
  least: HOUR,
  terms: 'Free of charge, once a day is enough and more than once an hour is firewalled; credit, date and copyright stay with the data.',
} as const;
const FIREHOL = {
  ...HOSTS,
  purpose: 'block',
  every: 6 * HOUR,
  least: 15 * MINUTE,
  terms: 'Put together of lists with terms of their own; several of them forbid that they are passed on.',
} as const;
const EMERGING = { ...HOSTS, purpose: 'block', every: DAY, least: DAY } as const;
const IPSUM = {
  ...HOSTS,
  purpose: 'block',
  every: DAY,
  least: 15 * MINUTE,
  terms: 'The Unlicense for the collection; made of more than 30 lists with terms of their own.',
} as const;
const CLOUDFLARE = {
  purpose: 'allow',
  isRecommended: true,
  minPrefixV4: 12,
  ...V6_OPERATORS,
  every: DAY,
  least: HOUR,
  terms: 'Published by Cloudflare for allow rules of its customers.',
} as const;
const AWS = {
  isRecommended: true,
  url: 'https://ip-ranges.amazonaws.com/ip-ranges.json',
  purpose: 'allow',
  minPrefixV4: 12,
  ...V6_OPERATORS,
  paths: ['prefixes[].ip_prefix', 'ipv6_prefixes[].ipv6_prefix'],
  every: DAY,
  least: HOUR,
  terms: 'Published by AWS for filters such as this.',
} as const;
const BOTS = { ...HOSTS, purpose: 'allow', paths: ['prefixes[].ipv4Prefix', 'prefixes[].ipv6Prefix'], every: DAY, least: HOUR } as const;

export const CATALOGUE: readonly CatalogueRow[] = [
  {
    ...SPAMHAUS,
    name: 'spamhaus-drop',
    title: 'Spamhaus DROP, IPv4: networks that were hijacked, or are leased by criminals',
    url: 'https://www.spamhaus.org/drop/drop_v4.json',
  },
  { ...SPAMHAUS, name: 'spamhaus-drop-v6', title: 'Spamhaus DROP, IPv6', url: 'https://www.spamhaus.org/drop/drop_v6.json' },
  {
    ...SPAMHAUS,
    ...HOSTS,
    name: 'spamhaus-asn-drop',
    title: 'Spamhaus ASN-DROP: network operators that are run by criminals',
    url: 'https://www.spamhaus.org/drop/asndrop.json',
    note: 'Some 400 network operators are many thousands of networks: try it first.',
  },
  {
    ...FIREHOL,
    name: 'firehol-level1',
    title: 'FireHOL level 1: several lists combined, safe to block nearly everywhere',
    url: 'https://raw.githubusercontent.com/firehol/blocklist-ipsets/master/firehol_level1.netset',
    minPrefixV4: 3,
    note: 'It has 10.0.0.0/8, 192.168.0.0/16, 224.0.0.0/3 and other networks that are no public ones: only with PROTECTED_NETWORKS=private,special.',
  },
  {
    ...FIREHOL,
    name: 'firehol-level2',
    minPrefixV4: 16,
    title: 'FireHOL level 2: attackers of the last two days',
    url: 'https://raw.githubusercontent.com/firehol/blocklist-ipsets/master/firehol_level2.netset',
  },
  {
    ...FIREHOL,
    name: 'firehol-level3',
    minPrefixV4: 12,
    title: 'FireHOL level 3: attackers, spyware and viruses of the last 30 days',
    url: 'https://raw.githubusercontent.com/firehol/blocklist-ipsets/master/firehol_level3.netset',
    note: 'It blocks more innocents than the levels below it.',
  },
  {
    ...HOSTS,
    name: 'feodo',
    title: 'abuse.ch Feodo Tracker: servers that command botnets',
    url: 'https://feodotracker.abuse.ch/downloads/ipblocklist_recommended.txt',
    purpose: 'block',
    every: HOUR,
    least: HOUR,
    mayBeEmpty: true,
    terms: 'CC0.',
    note: 'It has few or no entries after botnet takedowns.',
  },
  {
    ...HOSTS,
    name: 'dshield-block',
    title: 'SANS ISC DShield: the 20 networks of /24 that attack most',
    url: 'https://feeds.dshield.org/block.txt',
    purpose: 'block',
    every: DAY,
    least: HOUR,
    terms: 'CC BY-NC-SA 2.5: not for commercial use.',
  },
  {
    ...EMERGING,
    name: 'emerging-block',
    minPrefixV4: 10,
    title: 'Proofpoint Emerging Threats: blocks for firewalls',
    url: 'https://rules.emergingthreats.net/fwrules/emerging-Block-IPs.txt',
    terms: 'Open; to be fetched once a day.',
    note: 'Nearly all of it is Spamhaus DROP.',
  },
  {
    ...EMERGING,
    name: 'emerging-compromised',
    title: 'Proofpoint Emerging Threats: compromised hosts',
    url: 'https://rules.emergingthreats.net/blockrules/compromised-ips.txt',
    terms: 'BSD, three clauses; to be fetched once a day.',
  },
  {
    ...HOSTS,
    name: 'cins',
    title: 'CINS Army: hosts of bad reputation that no other list has, 15,000 at most',
    url: 'https://cinsscore.com/list/ci-badguys.txt',
    purpose: 'block',
    every: 6 * HOUR,
    least: HOUR,
    terms: 'Free for any use.',
  },
  {
    ...HOSTS,
    name: 'blocklist-de',
    title: 'blocklist.de: hosts that attacked servers in the last two days',
    url: 'https://lists.blocklist.de/lists/all.txt',
    purpose: 'block',
    every: 6 * HOUR,
    least: HOUR,
    terms: 'Free of charge; no licence is stated.',
  },
  {
    ...IPSUM,
    name: 'ipsum-3',
    title: 'IPsum level 3: hosts that three lists have, or more',
    url: 'https://raw.githubusercontent.com/stamparm/ipsum/master/levels/3.txt',
  },
  {
    ...IPSUM,
    name: 'ipsum-5',
    title: 'IPsum level 5: hosts that five lists have, or more',
    url: 'https://raw.githubusercontent.com/stamparm/ipsum/master/levels/5.txt',
  },
  {
    ...HOSTS,
    name: 'tor-exits',
    title: 'Tor Project: exits of the Tor network',
    url: 'https://check.torproject.org/torbulkexitlist',
    purpose: 'block',
    every: HOUR,
    least: HOUR,
    terms: 'CC0.',
    note: 'Anonymous users, mostly not attackers: blocking them is a matter of policy.',
  },
  { ...CLOUDFLARE, name: 'cloudflare-v4', title: 'Cloudflare: the IPv4 networks of its proxies', url: 'https://www.cloudflare.com/ips-v4' },
  { ...CLOUDFLARE, name: 'cloudflare-v6', title: 'Cloudflare: the IPv6 networks of its proxies', url: 'https://www.cloudflare.com/ips-v6' },
  { ...AWS, name: 'aws-cloudfront', title: 'AWS: the networks of CloudFront', condition: 'service=CLOUDFRONT' },
  {
    ...AWS,
    name: 'aws-health-checks',
    title: 'AWS: from where Route 53 checks whether a service answers',
    condition: 'service=ROUTE53_HEALTHCHECKS',
  },
  {
    ...BOTS,
    name: 'googlebot',
    isRecommended: true,
    title: 'Google: the crawlers of its search',
    url: 'https://developers.google.com/static/crawling/ipranges/common-crawlers.json',
    terms: 'Published by Google to identify its crawlers.',
  },
  {
    ...BOTS,
    name: 'google-services',
    minPrefixV4: 8,
    ...V6_OPERATORS,
    title: 'Google: the networks of its own services and of its cloud',
    url: 'https://www.gstatic.com/ipranges/goog.json',
    terms: 'Published by Google for filters such as this.',
    note: 'Contains customers of its cloud, including attackers: googlebot is usually the better choice.',
  },
  {
    name: 'fastly',
    isRecommended: true,
    minPrefixV4: 14,
    ...V6_OPERATORS,
    title: 'Fastly: the networks of its proxies',
    url: 'https://api.fastly.com/public-ip-list',
    purpose: 'allow',
    paths: ['addresses[]', 'ipv6_addresses[]'],
    every: DAY,
    least: HOUR,
    terms: 'Published by Fastly for allow rules of its customers.',
  },
  {
    name: 'github-hooks',
    isRecommended: true,
    minPrefixV4: 18,
    ...V6_OPERATORS,
    title: 'GitHub: from where webhooks are sent',
    url: 'https://api.github.com/meta',
    purpose: 'allow',
    paths: ['hooks[]'],
    every: DAY,
    least: HOUR,
    terms: 'Published by GitHub for filters such as this; 60 requests an hour from an address without a token.',
  },
  {
    name: 'oracle-services',
    minPrefixV4: 14,
    ...V6_OPERATORS,
    title: 'Oracle Cloud: the networks of its own services',
    url: 'https://docs.oracle.com/en-us/iaas/tools/public_ip_ranges.json',
    purpose: 'allow',
    paths: ['regions[].cidrs[].cidr'],
    condition: 'tags=OSN',
    every: DAY,
    least: HOUR,
    terms: 'Published by Oracle for filters such as this.',
  },
  {
    name: 'zscaler-hubs',
    minPrefixV4: 14,
    ...V6_OPERATORS,
    title: 'Zscaler: from where its customers reach the Internet',
    url: 'https://config.zscaler.com/api/zscaler.net/hubs/cidr/json/recommended',
    purpose: 'allow',
    paths: ['hubPrefixes[]'],
    every: DAY,
    least: HOUR,
    terms: 'Published by Zscaler for allow rules of the sites its customers visit.',
  },
];

export const findCatalogue = (name: string): CatalogueRow | undefined => CATALOGUE.find((row) => row.name === name);

const LEAST: ReadonlyMap<string, number> = new Map(
  [...Map.groupBy(CATALOGUE, ({ url }) => hostName(new URL(url)))].map(([host, rows]) => [
    host,
    Math.max(...rows.map(({ least }) => least)),
  ]),
);

/** Seconds; undefined: not in the catalogue. */
export const leastInterval = (url: URL): number | undefined => LEAST.get(hostName(url));
