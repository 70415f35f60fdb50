import { WEBHOOK_STYLES } from '../account/webhook.ts';
import { cidr, commaList, duration, integer, nat64Prefix, oneOf, type Setting, secret, text, url } from './setting.ts';

/** Fetching of sources (SPEC D23.10), and webhooks (D27). */
export const SOURCES = {
  sourceNetworks: {
    unset: [],
    parse: commaList(cidr),
    meaning: 'networks that sources may be fetched from besides the public Internet, separated by commas, such as that of your own MISP',
  },
  sourceProxy: {
    parse: url(['http:']),
    meaning: 'HTTP proxy through which sources are fetched (CONNECT); its rules say which names may be reached',
  },
  noProxy: {
    unset: [],
    parse: commaList(text),
    meaning: 'hosts that SOURCE_PROXY is not used for, with all below them, separated by commas; `*` is all',
  },
  sourceCaFile: { parse: text, meaning: 'PEM file of authorities that servers of sources are trusted by besides the well-known ones' },
  sourceContact: {
    parse: url(['http:', 'https:', 'mailto:']),
    meaning: 'address that servers of sources are told, so that their people can ask you; BASE_URL when unset',
  },
  sourceMaxMb: {
    fallback: '64',
    parse: integer(1, 1024),
    meaning: 'content of a source, MiB, on the wire and unpacked each; beyond it it is not taken',
  },
  sourceSeconds: {
    fallback: '300',
    parse: duration('s', 1, 3600),
    meaning: 'how long fetching a source may take; without a byte at most 30 seconds',
  },
  sourceRefreshSeconds: {
    fallback: '60',
    parse: duration('s', 0, 3600),
    meaning: 'how long after a download an address is not fetched again, whoever asks for it; hosts of the catalogue set longer times',
  },
  webhookNetworks: {
    unset: [],
    parse: commaList(cidr),
    meaning:
      'networks that webhooks of workspaces may be sent to besides the public Internet, separated by commas; the other ways out are those of sources (SOURCE_PROXY, NO_PROXY, SOURCE_CA_FILE)',
  },
  nat64Prefixes: {
    unset: [],
    parse: commaList(nat64Prefix),
    meaning:
      'NAT64 prefixes of this network besides 64:ff9b::/96, separated by commas: sources and webhooks reach an address in one where they may reach the IPv4 address in it',
  },
  webhookUrl: {
    parse: url(['http:', 'https:']),
    meaning: 'address that is told what changes of what needs attention of the service itself (webhooks.md); wherever it leads',
  },
  webhookStyle: {
    fallback: 'weir',
    parse: oneOf(WEBHOOK_STYLES),
    meaning: `how its messages are written, one of ${WEBHOOK_STYLES.join(', ')}`,
  },
  webhookSecret: {
    parse: secret(16),
    meaning: 'what its messages are signed with, or the routing key of PagerDuty; 16 to 64 visible ASCII characters',
  },
} as const satisfies Record<string, Setting<unknown>>;
