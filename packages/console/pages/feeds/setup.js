export const KEY = 'weir_…';

/** @type {readonly SetUp[]} */
export const SET_UPS = [
  {
    name: 'FortiGate',
    advice: 'Format plain. Refresh rate in minutes.',
    text: ({ address }) => `config system external-resource
    edit "weir"
        set type address
        set resource "${address}"
        set username "api"
        set password "${KEY}"
        set refresh-rate 5
        set server-identity-check full
    next
end`,
  },
  {
    name: 'Palo Alto',
    advice: 'Format plain, and a cap that the model takes: 50,000 on most.',
    text: ({ address }) => `Objects > External Dynamic Lists > Add
Type                   IP List
Source                 ${address}
Certificate Profile    one that holds the CA of weir's certificate
Client Authentication  user name api, password ${KEY}
Check for updates      Every five minutes`,
  },
  {
    name: 'Check Point',
    advice: 'Format csv_indicator, family v4.',
    text: ({ address }) => `ioc_feeds add --feed_name weir --transport https --resource "${address}" --user_name api \\
  --feed_file_type custom_csv --format [value:#1,type:#2,confidence:#3,severity:#4] --delimiter , --comment #`,
  },
  {
    name: 'Cisco',
    advice: 'Format plain. A proxy beside weir has to show the key: docs/appliances/cisco.md.',
    text: ({ address }) => `Objects > Object Management > Security Intelligence > Network Lists and Feeds
Type       Feed
Feed URL   ${address}
MD5 URL    ${address}?checksum=md5`,
  },
  {
    name: 'Juniper SRX',
    advice: 'Format plain; the feed stores its format and family, because the SRX takes a path.',
    text: ({ origin, path }) => `set security dynamic-address feed-server weir url ${origin}
set security dynamic-address feed-server weir update-interval 60
set security dynamic-address feed-server weir hold-interval 86400
set security dynamic-address feed-server weir user-name api
set security dynamic-address feed-server weir password ${KEY}
set security dynamic-address feed-server weir feed-name weir-block path ${path}
set security dynamic-address address-name weir-block profile feed-name weir-block`,
  },
  {
    name: 'nftables',
    advice: 'Format set_elements; a set holds one family, so fetch both apart.',
    text: ({ address }) => `curl -fsS -u "api:${KEY}" -o /var/lib/weir-feed/v4.elements '${address}?format=set_elements&family=v4'
curl -fsS -u "api:${KEY}" -o /var/lib/weir-feed/v6.elements '${address}?format=set_elements&family=v6'
nft -f /var/lib/weir-feed/load.nft`,
  },
  {
    name: 'Bouncer',
    advice: 'A key that is bound to the feed, with feed:read. For the firewall bouncer: ipset mode.',
    text: ({ origin }) => `# /etc/crowdsec/bouncers/crowdsec-firewall-bouncer.yaml
mode: iptables
update_frequency: 10s
api_url: ${origin}/
api_key: ${KEY}`,
  },
  {
    name: 'Agent',
    needs: 'config:read',
    advice: 'A key with config:read that is bound to no feed: the document is of the whole workspace.',
    text: ({ origin }) => `curl -s -H "Authorization: Bearer ${KEY}" ${origin}/authcheck
curl -s --compressed -H "Authorization: Bearer ${KEY}" ${origin}/config`,
  },
  {
    name: 'Anything else',
    advice: 'One network a line. Conditional requests (If-None-Match) are answered 304.',
    text: ({ address }) => `curl -fsS -u "api:${KEY}" '${address}'`,
  },
];
