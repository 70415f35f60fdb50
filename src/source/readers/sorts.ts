/** Of Zeek, MISP, OTX, STIX, OpenCTI, ThreatFox, Anomali, Check Point and CrowdSec (SPEC D40.3). */

/** `ip`: either family; `other`: not a rule target, such as a URL or hash. */
export type Sort = 'ip' | 4 | 6 | 'asn' | 'country' | 'other';

const NAMES: readonly (readonly [Sort, string])[] = [
  ['ip', 'ip addr address ipaddress ipaddr cidr subnet network range iprange netblock ipnetwork ipsubnet ipprefix ipcidr ipmask host net'],
  ['ip', 'ips ipsrc ipdst ipsrcport ipdstport ipport domainip srcip dstip sourceip destinationip'],
  [4, 'ipv4 ip4 ipv4addr ipv4address ipv4cidr ipv4network ipv4range ipv4subnet ipv4net inet'],
  [6, 'ipv6 ip6 ipv6addr ipv6address ipv6cidr ipv6network ipv6range ipv6subnet ipv6net inet6'],
  ['asn', 'asn as asnumber autonomoussystem'],
  ['country', 'country countrycode'],
  ['other', 'url uri link domain domainname hostname hostnameport fqdn xopenctihostname'],
  [
    'other',
    'email emailaddr emailaddress emailsrc emaildst emailsubject emailbody emailmessage mailsubject mailfrom mailto mailcc mailreplyto',
  ],
  [
    'other',
    'hash filehash certhash pubkeyhash md5 sha1 sha224 sha256 sha384 sha512 md5hash sha1hash sha256hash sha3384hash ssdeep imphash tlsh',
  ],
  [
    'other',
    'filehashmd5 filehashsha1 filehashsha256 filehashpehash filehashimphash filenamemd5 filenamesha1 filenamesha256 authentihash pehash',
  ],
  [
    'other',
    'file filename filepath stixfile artifact mutex mutexname process software directory registry registrykey windowsregistrykey regkey',
  ],
  [
    'other',
    'certificate x509certificate sslcertfingerprint x509fingerprintsha1 useragent ua username useraccount user cve vulnerability yara sigma',
  ],
  ['other', 'snort ja3 ja3s ja4 mac macaddr macaddress bitcoinaddress btc cryptocurrencywallet networktraffic phonenumber text'],
];
const SORTS: ReadonlyMap<string, Sort> = new Map(NAMES.flatMap(([sort, names]) => names.split(' ').map((name) => [name, sort] as const)));

export const sortOf = (text: string): Sort | undefined =>
  SORTS.get(
    text
      .toLowerCase()
      .replace(/^intel::/, '')
      .replace(/[^a-z\d]/g, ''),
  );

/** Also accepts a known last word: `c2_ip`, `mal_domain`. */
export const lastSortOf = (text: string): Sort | undefined => sortOf(text) ?? sortOf(text.split(/[^a-z\d]+/i).at(-1) ?? '');

/** MISP's domain with address: `example.net|192.0.2.1`. */
export const DOMAIN_AND_ADDRESS = /^domain\|ip$/i;
