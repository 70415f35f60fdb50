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
    advice: 'Format plain, and a limit for the model: 50,000 on most.',
    text: ({ address }) => `Objects > External Dynamic Lists > Add
Type                   IP List
Source                 ${address}
Certificate Profile    one with the CA of weir's certificate
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
    advice: 'Format plain. Cisco sends no key, so a proxy in front of weir adds it.',
    text: ({ address }) => `Objects > Object Management > Security Intelligence > Network Lists and Feeds
Type       Feed
Feed URL   ${address}
MD5 URL    ${address}?checksum=md5`,
  },
  {
    name: 'Juniper SRX',
    advice: 'Format plain. Set format and family in the feed: the SRX accepts only a path.',
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
    advice: 'Format set_elements. A set has one family, so fetch each separately.',
    text: ({ address }) => `curl -fsS -u "api:${KEY}" -o /var/lib/weir-feed/v4.elements '${address}?format=set_elements&family=v4'
curl -fsS -u "api:${KEY}" -o /var/lib/weir-feed/v6.elements '${address}?format=set_elements&family=v6'
nft -f /var/lib/weir-feed/load.nft`,
  },
  {
    name: 'Bouncer',
    advice: 'Use ipset mode for the firewall bouncer.',
    text: ({ origin }) => `# /etc/crowdsec/bouncers/crowdsec-firewall-bouncer.yaml
mode: iptables
update_frequency: 10s
api_url: ${origin}/
api_key: ${KEY}`,
  },
  {
    name: 'Agent',
    needs: 'config:read',
    advice: 'Its key has config:read for the whole workspace.',
    text: ({ origin }) => `curl -s -H "Authorization: Bearer ${KEY}" ${origin}/authcheck
curl -s --compressed -H "Authorization: Bearer ${KEY}" ${origin}/config`,
  },
  {
    name: 'Anything else',
    advice: 'One network per line. Conditional requests (If-None-Match) get a 304.',
    text: ({ address }) => `curl -fsS -u "api:${KEY}" '${address}'`,
  },
];
