import { IPSET, IPTABLES, NFT } from './firewalls.ts';
import type { LineForm } from './line-form.ts';
import { CDB, PEER_GUARDIAN, YAML } from './lists.ts';
import { APACHE, HOSTS_DENY, NGINX, NGINX_GEO } from './servers.ts';

/** hosts.deny resembles others. */
const LINE_FORMS: readonly LineForm[] = [NFT, IPSET, IPTABLES, NGINX, NGINX_GEO, APACHE, PEER_GUARDIAN, CDB, YAML, HOSTS_DENY];

/** With unclear semantics. */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [/^acl\s+\S+\s+\S/, 'has ACLs of Squid or HAProxy, which do not say whether their addresses are blocked'],
  [/^(ip\s+)?access-list\s|^ip\s+(route|prefix-list)\s|^object(-group)?\s+network\s|^hostname\s/, 'is a configuration of Cisco'],
  [
    /^set\s+(\S+\s+)?(policy-options|firewall|security|groups|address|address-group|external-list)\s/,
    'is a configuration of Juniper or Palo Alto',
  ],
  [/^config\s+(firewall|system|vdom|global)\b/, 'is a configuration of FortiOS'],
  [/^add\s+(host|network|address-range)\s+name\s/, 'has commands of Check Point'],
  [/^\/ip(v6)?\s+firewall\b|^add\s+(address|list|comment|disabled)=/, 'is an export of MikroTik'],
  [/^table\s+<|^(block|pass)\s+(in|out|quick|drop|return|log|all|from)\b/, 'has rules of pf'],
  [/^(alert|drop|reject|pass|log)\s+(ip|tcp|udp|icmp|http|dns|tls|pkthdr)\s/, 'has rules of Suricata or Snort'],
  [/^(inetnum|inet6num|NetRange|route6?|aut-num):/i, 'is an answer of whois'],
  [/^(\d\|)?(afrinic|apnic|arin|iana|lacnic|ripencc)\|/, 'has the statistics of a registry'],
  [/^sep=.$/, 'begins with a line for Excel: skip it (skip 1)'],
];

/** The end of a sentence; undefined if unknown. */
export const foreignOf = (first: string): string | undefined => FOREIGN.find(([begins]) => begins.test(first))?.[1];

/** Fast path: lists usually begin with an address or a header. */
const BEGINS_PLAIN = /^[\d.]+(\/\d+)?$/;

/** undefined: a plain list. */
export function lineFormOf(first: string): LineForm | undefined {
  if (BEGINS_PLAIN.test(first)) return undefined;
  const comment = first.search(/\s#/);
  const bare = comment < 0 ? first : first.slice(0, comment).trimEnd();
  return LINE_FORMS.find((form) => form.first.test(first) || form.first.test(bare));
}
