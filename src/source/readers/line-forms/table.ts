/** The forms of text whose lines are statements of a program. */
import { IPSET, IPTABLES, NFT } from './firewalls.ts';
import type { LineForm } from './line-form.ts';
import { CDB, PEER_GUARDIAN, YAML } from './lists.ts';
import { APACHE, HOSTS_DENY, NGINX, NGINX_GEO } from './servers.ts';

/** In the order in which they are tried: hosts.deny may look like others. */
const LINE_FORMS: readonly LineForm[] = [NFT, IPSET, IPTABLES, NGINX, NGINX_GEO, APACHE, PEER_GUARDIAN, CDB, YAML, HOSTS_DENY];

/** Most lists begin with an address or a header of some words. */
const BEGINS_PLAIN = /^[\d.]+(\/\d+)?$/;

/** The form of a file by its first line that is no comment, with or without the comment behind it; undefined for a list of addresses. */
export function lineFormOf(first: string): LineForm | undefined {
  if (BEGINS_PLAIN.test(first)) return undefined;
  const comment = first.search(/\s#/);
  const bare = comment < 0 ? first : first.slice(0, comment).trimEnd();
  return LINE_FORMS.find((form) => form.first.test(first) || form.first.test(bare));
}
