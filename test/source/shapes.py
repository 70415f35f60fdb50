"""Writes lists in the shapes of the public ones, as large as those are, and prints what Python's ipaddress makes of each.

Usage: shapes.py FOLDER. A line of JSON a shape: file, options of the reader, and the entries that it has, as sorted networks in text.
"""
import gzip, ipaddress, json, random, sys
from pathlib import Path

folder = Path(sys.argv[1])
rnd = random.Random(7)
hosts = lambda n: [str(ipaddress.IPv4Address(x)) for x in sorted(rnd.sample(range(0x0B000000, 0xDF000000), n))]
nets = lambda n, lo=12, hi=24: [str(ipaddress.ip_network((rnd.randrange(0x0B000000, 0xDF000000), p), strict=False)) for p in (rnd.randint(lo, hi) for _ in range(n))]
nets6 = lambda n: [str(ipaddress.ip_network((0x2A00 << 112 | rnd.getrandbits(108), rnd.choice([29, 32, 40, 48])), strict=False)) for _ in range(n)]


def shape(name, text, expected, **options):
    data = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(data)
    networks = [str(ipaddress.ip_network(each)) if isinstance(each, str) else str(each) for each in expected]
    print(json.dumps({"file": name, "options": options, "entries": [n.removesuffix("/128" if ":" in n else "/32") for n in networks]}))


drop = nets(1692)
meta = lambda n: json.dumps({"type": "metadata", "timestamp": 1758000000, "size": 1, "records": n, "copyright": "(c)", "terms": "t"}, separators=(",", ":"))
shape("drop_v4.json", "".join(json.dumps({"cidr": n, "sblid": "SBL1", "rir": "ripencc"}).replace("/", "\\/") + "\n" for n in drop) + meta(1692) + "\n", drop)
six = nets6(91)
shape("drop_v6.json", "".join(json.dumps({"cidr": n, "sblid": "SBL1", "rir": "arin"}) + "\n" for n in six) + meta(91) + "\n", six)
shape("drop.txt", "; Spamhaus DROP List 2026/01/01 - (c)\n; Last-Modified: x\n" + "".join(f"{n} ; SBL{i}\n" for i, n in enumerate(drop)), drop)
shape("edrop.txt", "; Spamhaus EDROP List\n; merged into DROP\n", [])

feodo = hosts(5)
rows = "".join(f'"2021-01-17 07:30:05","{h}","443","online","2026-01-01","Dridex"\r\n' for h in feodo)
banner = "################\r\n# Feodo Tracker Botnet C2 IP Blocklist (CSV)\r\n# Last updated: 2026-01-01, UTC\r\n#\r\n"
shape("ipblocklist.csv", banner + '# "first_seen_utc","dst_ip","dst_port","c2_status","last_online","malware"\r\n' + rows + "# END 5 entries\r\n", feodo)
shape("ipblocklist_plain_header.csv", banner + "# first_seen_utc,dst_ip,dst_port,c2_status,last_online,malware\r\n" + rows, feodo)
shape("ipblocklist_recommended.txt", banner + "".join(h + "\r\n" for h in feodo), feodo)
fields = lambda h: {"ip_address": h, "port": 443, "status": "online", "hostname": None, "as_number": 64500, "as_name": "EXAMPLE", "country": "US", "first_seen": "2021-01-17 07:30:05", "last_online": "2026-01-01", "malware": "Dridex"}
shape("ipblocklist.json", json.dumps([fields(h) for h in feodo], indent=4), feodo)
sslbl = hosts(300)
shape("sslipblacklist.csv", banner + "# Firstseen,DstIP,DstPort\r\n" + "".join(f"2024-12-30 10:00:00,{h},443\r\n" for h in sslbl), sslbl)
shape("ipblocklist_empty.txt", banner + "# END 0 entries\r\n", [])

starts = [ipaddress.ip_network((rnd.randrange(0x0B000000, 0xDF000000), 24), strict=False) for _ in range(20)]
lines = "".join(f"{n[0]}\t{n[-1]}\t24\t{rnd.randint(100, 9999)}\tEXAMPLE, Inc\tUS\ta@example.net\n" for n in starts)
comments = "# DShield.org Recommended Block List\n# primary URL: x\n#\n"
shape("block.txt", comments + "Start\tEnd\tNetmask\tAttacks\tName\tCountry\temail\n" + lines, starts)
shape("block_bare.txt", comments + lines, starts)

bad = hosts(15000)
shape("ci-badguys.txt", "".join(h + "\n" for h in bad), bad)
parts = [f"#{title}\n" + "".join(n + "\n" for n in part) + "\n" for title, part in [("Feodo", feodo), ("Spamhaus DROP Nets", drop), ("Dshield Top Attackers", map(str, starts[:19]))]]
shape("emerging-Block-IPs.txt", "# Rev 4711\n# (c) EmergingThreats\n\n" + "".join(parts), feodo + drop + starts[:19])
mixed = hosts(20000) + [str(ipaddress.IPv6Address(0x2A00 << 112 | rnd.getrandbits(100))) for _ in range(9160)]
shape("blocklist_de_all.txt", "".join(h + "\n" for h in mixed), mixed)
shape("compromised-ips.txt.gz", gzip.compress("".join(h + "\n" for h in bad[:500]).encode()), bad[:500])
level1 = nets(4500, 8, 32) + ["0.0.0.0/8", "10.0.0.0/8", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "224.0.0.0/3"]
head = "#\n# firehol_level1\n#\n# ipv4 hash:net ipset\n#\n# Maintainer      : FireHOL\n# List source URL : https://x/\n# Aggregation     : none\n# Entries         : 4,506 subnets, 620000000 unique IPs\n#\n"
shape("firehol_level1.netset", head + "".join(n.removesuffix("/32") + "\n" for n in level1), level1)
shape("ipsum.txt", "# IPsum\n" + "".join(f"{h}\t{rnd.randint(1, 9)}\n" for h in mixed[:20000]), mixed[:20000])
shape("ipsum_level3.txt", "".join(h + "\n" for h in mixed[:9000]), mixed[:9000])
shape("torbulkexitlist", "".join(h + "\n" for h in bad[:1405]), bad[:1405])
shape("abuseipdb.json", json.dumps({"meta": {"generatedAt": "x"}, "data": [{"ipAddress": h, "countryCode": "US", "abuseConfidenceScore": 100, "lastReportedAt": "x"} for h in bad[:10000]]}), bad[:10000], paths=["data[].ipAddress"])
shape("abuseipdb.txt", "\n".join(bad[:10000]), bad[:10000])
shape("crowdsec.txt", "".join(h + "\n" for h in mixed[15000:22000]), mixed[15000:22000])
level2 = nets(3000, 16, 32) + nets6(200)
shape("another-weir.txt", "# weir threat feed: default\n# action: block\n# entries: 3200\n" + "".join(n + "\n" for n in level2), level2)

ranges = []
text = ""
for i in range(300):
    a = rnd.randrange(0x0B000000, 0xDF000000)
    b = a + rnd.randrange(1, 5000)
    ranges += ipaddress.summarize_address_range(ipaddress.IPv4Address(a), ipaddress.IPv4Address(b))
    text += f"{ipaddress.IPv4Address(a)}{[' - ', '-', '- ', ' -'][i % 4]}{ipaddress.IPv4Address(b)}\n"
for i in range(50):
    a = 0x2A00 << 112 | rnd.getrandbits(100)
    b = a + rnd.getrandbits(70) + 1
    ranges += ipaddress.summarize_address_range(ipaddress.IPv6Address(a), ipaddress.IPv6Address(b))
    text += f"{ipaddress.IPv6Address(a)} - {ipaddress.IPv6Address(b)} // a range\n"
shape("ranges.p2p.txt", "// ranges\n" + text, ranges)

asns = sorted(rnd.sample(range(1, 400000), 400))
(folder / "asndrop.json").write_text("".join(json.dumps({"asn": a, "rir": "ripencc", "domain": "example.com", "cc": "NL", "asname": "EXAMPLE"}) + "\n" for a in asns) + meta(400) + "\n")
print(json.dumps({"file": "asndrop.json", "options": {}, "entries": [f"AS{a}" for a in asns]}))

services = ["AMAZON", "EC2", "CLOUDFRONT", "S3"]
four = [{"ip_prefix": n, "region": "us-east-1", "service": rnd.choice(services), "network_border_group": "us-east-1"} for n in nets(2800)]
sixes = [{"ipv6_prefix": n, "region": "us-east-1", "service": rnd.choice(services), "network_border_group": "x"} for n in nets6(1047)]
aws = json.dumps({"syncToken": "1758000000", "createDate": "2026-01-01-00-00-00", "prefixes": four, "ipv6_prefixes": sixes}, indent=2)
both = ["prefixes[].ip_prefix", "ipv6_prefixes[].ipv6_prefix"]
shape("ip-ranges.json", aws, [p["ip_prefix"] for p in four] + [p["ipv6_prefix"] for p in sixes], paths=both)
front = [p["ip_prefix"] for p in four if p["service"] == "CLOUDFRONT"] + [p["ipv6_prefix"] for p in sixes if p["service"] == "CLOUDFRONT"]
shape("ip-ranges-cloudfront.json", aws, front, paths=both, where="service=CLOUDFRONT")
g4, g6 = nets(400), nets6(71)
google = [{"ipv4Prefix": n, "service": "Google Cloud", "scope": "x"} for n in g4] + [{"ipv6Prefix": n, "service": "Google Cloud", "scope": "x"} for n in g6]
shape("cloud.json", json.dumps({"syncToken": "1", "creationTime": "x", "prefixes": google}, indent=1), g4 + g6, paths=["prefixes[].ipv4Prefix", "prefixes[].ipv6Prefix"])
tags = [{"name": f"Tag{i}", "id": f"Tag{i}", "properties": {"changeNumber": i, "addressPrefixes": nets(25) + nets6(2)}} for i in range(100)]
azure = json.dumps({"changeNumber": 1, "cloud": "Public", "values": tags}, indent=2)
shape("ServiceTags.json", azure, [n for t in tags for n in t["properties"]["addressPrefixes"]], paths=["values[].properties.addressPrefixes[]"])
shape("ServiceTags-one.json", azure, tags[7]["properties"]["addressPrefixes"], paths=["values[].properties.addressPrefixes[]"], where="name=Tag7")
o365 = [{"id": i, "serviceArea": rnd.choice(["Exchange", "Skype"]), "urls": ["x.example"], "ips": nets(8), "tcpPorts": "443"} for i in range(10)]
o365 += [{"id": 11, "serviceArea": "Exchange", "urls": ["only.example"], "ips": []}]
shape("endpoints.json", json.dumps(o365), [n for o in o365 for n in o["ips"]], paths=["[].ips[]"])
cf = nets(15) + nets6(7)
shape("ips-v4-v6", "\n".join(cf), cf)
shape("client-v4-ips.json", json.dumps({"result": {"ipv4_cidrs": cf[:15], "ipv6_cidrs": cf[15:], "etag": "38f79d050aa027e3be3865e495dcc9bc"}, "success": True, "errors": [], "messages": []}), cf, paths=["result.ipv4_cidrs[]", "result.ipv6_cidrs[]"])
web, hooks = nets(2000), nets(6) + nets6(2)
shape("meta.json", json.dumps({"verifiable_password_authentication": False, "ssh_keys": ["x"], "hooks": hooks, "web": web, "actions": nets(3000)}), hooks + web, paths=["hooks[]", "web[]"])
shape("public-ip-list.json", json.dumps({"addresses": g4[:19], "ipv6_addresses": g6[:2]}), g4[:19] + g6[:2], paths=["addresses[]", "ipv6_addresses[]"])
regions = [{"region": "x", "cidrs": [{"cidr": n, "tags": ["OCI"]} for n in nets(9)]} for _ in range(30)]
shape("public_ip_ranges.json", json.dumps({"last_updated_timestamp": "x", "regions": regions}), [c["cidr"] for r in regions for c in r["cidrs"]], paths=["regions[].cidrs[].cidr"])
shape("zscaler.json", json.dumps({"hubPrefixes": drop[:80]}), drop[:80], paths=["hubPrefixes[]"])
relay = nets(9000, 24, 31) + nets6(4747)
shape("egress-ip-ranges.csv", "".join(f"{n},US,US-CA,Los Angeles,\n" for n in relay), relay)
shape("warninglist.json", json.dumps({"name": "x", "version": 20260101, "type": "cidr", "matching_attributes": ["ip-src"], "list": drop[:400]}, indent=2), drop[:400], paths=["list[]"])

attributes = "uuid,event_id,category,type,value,comment,to_ids,date\n"
expected = []
for i, h in enumerate(bad[:600]):
    kind, value, ids = [("ip-dst", h, 1), ("ip-src|port", f"{h}|443", 1), ("ip-dst", h, 0), ("md5", "0" * 32, 1), ("domain|ip", f"x.example|{h}", 1)][i % 5]
    attributes += f'"u{i}",1,"Network activity","{kind}","{value}","a, comment",{ids},20260101\n'
    if ids and kind != "md5":
        expected.append(h)
shape("misp.csv", attributes, expected)

def attribute(i, h):
    kind, value, ids = [("ip-dst", h, True), ("ip-src|port", f"{h}|443", True), ("ip-src", h, False), ("url", f"http://{h}/", True), ("domain|ip", f"x.example|{h}", True)][i % 5]
    return {"id": str(i), "type": kind, "category": "Network activity", "to_ids": ids, "uuid": f"u{i}", "timestamp": "1758000000", "comment": "", "deleted": i % 50 == 0, "value": value}


detected = lambda chosen: [h for i, h in enumerate(chosen) if i % 5 in (0, 1, 4) and i % 50]
shape("misp.txt", "".join(h + "\n" for h in bad[:600]), bad[:600])
shape("misp-restSearch.json", json.dumps({"response": {"Attribute": [attribute(i, h) for i, h in enumerate(bad[:600])]}}), detected(bad[:600]), paths=["response.Attribute[]"])
inside = [bad[1000 + 10 * i : 1010 + 10 * i] for i in range(20)]
event = {"Event": {"uuid": "u", "info": "x", "Attribute": [attribute(i, h) for i, h in enumerate(bad[:600])], "Object": [{"name": "ip-port", "Attribute": [attribute(i, h) for i, h in enumerate(each)]} for each in inside]}}
shape("misp-event.json", json.dumps(event), detected(bad[:600]) + [h for each in inside for h in detected(each)], paths=["Event.Attribute[]", "Event.Object[].Attribute[]"])

# Forms of other programs: what is read (entries), refused line by line (faults), passed over and counted (passed), or refused as a whole.


def form(rule, name, text, expected, **told):
    shape(name, text, expected, rule=rule, **told)


def spans(*pairs):
    return [n for a, b in pairs for n in ipaddress.summarize_address_range(ipaddress.ip_address(a), ipaddress.ip_address(b))]


net = lambda text: ipaddress.ip_network(text, strict=False)
HOSTS = "is a hosts file"
form("D41.2", "hosts", "# ads\n127.0.0.1 localhost\n0.0.0.0 ads.example\n", [], refused=HOSTS)
form("D41.2", "hosts6", "::1 localhost ip6-localhost\n", [], refused=HOSTS)
form("D41.2", "hosts-unspecified6", "198.51.100.7\n:: ads.example # x\n", [], refused=HOSTS)
form("D41.2", "hosts-mac", "255.255.255.255\tbroadcasthost\n", [], refused=HOSTS)
form("D41.2", "hosts-words", "0.0.0.0 müller.example\n", [], refused=HOSTS)
form("D41.2", "hosts-wildcard.csv", "0.0.0.0,*.ads.example\n", [], refused=HOSTS)
form("D41.2", "no-hosts.txt", "0.0.0.0/8 private\n127.0.0.1\n127.0.0.2 3\n198.51.100.7 host.example\n", ["0.0.0.0/8", "127.0.0.1", "127.0.0.2", "198.51.100.7"])

four = lambda n: [f"198.51.100.{i}" for i in range(1, n + 1)]
ports = "".join(f"{h}:{p}\n" for h, p in zip(four(4), (22, 8080, 65535, 32)))
form("D41.3", "ports.txt", ports + "[2001:db8::1]:443\n[2001:db8::2]\n2001:db8::1:8080\n10.0.0.0:24\n192.0.2.1:0\n192.0.2.1:65536\n192.0.2.1:\n", four(4) + ["2001:db8::1", "2001:db8::2", "2001:db8::1:8080"], faults=4)
form("D41.3", "brackets.txt", "[2001:db8::1]:443\n[2001:db8::2]\n[192.0.2.1]:80\n", ["2001:db8::1", "2001:db8::2"], faults=1)
form("D41.3", "defanged.txt", "198.51.100[.]1\n198[.]51[.]100[.]2\n198(.)51.100{dot}3\n198.51.100[dot]4:80\n2001[:]db8[:][:]1\nhxxp://198.51.100.9/x\n198.51.100[.9\n198.51.100[.]1, 198.51.100[.]2\n", four(4) + ["2001:db8::1"], faults=3)
form("D41.3", "defanged.csv", "id,ip\n1,198[.]51[.]100[.]1\n2,198.51.100[.]2\n", four(2))
form("D41.3", "masks.txt", "198.51.100.0/255.255.255.0\n192.0.2.9/255.255.255.252\n10.0.0.0/0.0.255.255\n203.0.113.7/255.255.255.255\n1.2.3.4/0.0.0.0\n1.2.3.4/255.0.255.0\n2001:db8::/ffff::\n", [net("198.51.100.0/255.255.255.0"), net("192.0.2.9/255.255.255.252"), net("10.0.0.0/0.0.255.255"), "203.0.113.7/32"], faults=3)
form("D41.3", "stars.txt", "198.51.100.*\n203.0.*.*\n10.*.*.*\n198.51.*\n*.*.*.*\n198.*.1.1\n198.51.100.*/24\n198.51.100.* 203.0.113.7\n", ["198.51.100.0/24", "203.0.0.0/16", "10.0.0.0/8"], faults=5)
form("D41.3", "short-ranges.txt", "198.51.100.0-255\n192.0.2.1 - 9\n192.0.2.9-1\n192.0.2.9-256\n", spans(("198.51.100.0", "198.51.100.255"), ("192.0.2.1", "192.0.2.9")), faults=2)

form("D41.4", "start-end.csv", "198.51.100.0,198.51.100.255,EXAMPLE\n1.0.1.0,1.0.3.255,CN\n2001:db8::,2001:db8:0:ffff:ffff:ffff:ffff:ffff,X\n192.0.2.16,192.0.2.31,X\n", spans(("198.51.100.0", "198.51.100.255"), ("1.0.1.0", "1.0.3.255"), ("2001:db8::", "2001:db8:0:ffff:ffff:ffff:ffff:ffff"), ("192.0.2.16", "192.0.2.31")))
form("D41.4, D41.5", "start-end-allow.csv", "198.51.100.0,198.51.100.255,allow\n192.0.2.0 - 192.0.2.255 accept\n192.0.2.0-192.0.2.255|x|permit\n198.51.100.0 198.51.100.255 24 pass\n203.0.113.0 203.0.113.255 24 7 NAME\n", ["203.0.113.0/24"], passed=4)
form("D41.4", "two-hosts.csv", "192.0.2.1,198.51.100.7,x\n192.0.2.4,192.0.2.7,x\n198.51.100.0,255.255.255.0,x\n0.0.0.0,255.255.255.255,x\n1.0.1.255,1.0.1.0,x\n198.51.100.0,198.51.100.255,192.0.2.1\n", [], faults=6)

form("D41.5", "postfix", "198.51.100.1 REJECT spam\n198.51.100.2\tOK\n198.51.100.3 DUNNO\n198.51.100.4 deny\n", ["198.51.100.1", "198.51.100.4"], passed=2)
form("D41.5", "haproxy.map", "198.51.100.1 deny\n198.51.100.2 allow\n198.51.100.3,tcp,accept\n198.51.100.4 seen to pass\n", ["198.51.100.1", "198.51.100.4"], passed=2)
form("D41.5", "let-through.txt", "198.51.100.1 REJECT\n198.51.100.2 OK\n198.51.100.3\n", ["198.51.100.2", "198.51.100.3"], passed=1, action="allow")

form("D41.6, D41.7", "ipset.save", "create bad hash:net family inet hashsize 1024\nadd bad 198.51.100.0/24 timeout 60\nadd bad 198.51.100.7 nomatch\nadd bad 192.0.2.1 timeout 0 packets 3 bytes 5 comment \"a b\"\nadd bad 192.0.2.2,tcp:80\nadd good 192.0.2.3\nadd bad 192.0.2.4-192.0.2.7\nadd bad 192.0.2.9 oddity\n", ["198.51.100.0/24", "192.0.2.1", "192.0.2.4/30"], faults=4)
rules = ["*filter", ":INPUT ACCEPT [0:0]", ":bad - [0:0]", "-A INPUT -j bad", "-A INPUT -p tcp --dport 22 -j ACCEPT", "-A bad -s 198.51.100.1/32 -j DROP", "[3:9] -A bad -s 198.51.100.0/255.255.255.128 -m comment --comment \"x y\" -j REJECT --reject-with icmp-port-unreachable", "-A bad -d 192.0.2.1/32 -j DROP", "-A bad -s 192.0.2.2/32 -j ACCEPT", "-A bad -s 192.0.2.3/32 -j RETURN", "-A bad ! -s 192.0.2.0/24 -j DROP", "-A bad -s 192.0.2.4/32 -d 192.0.2.5/32 -j DROP", "-A bad -s 0.0.0.0/0 -p tcp --dport 23 -j DROP", "-A bad -s 192.0.2.6/32 -i eth0 -j DROP", "-A bad -s 192.0.2.7/32", "-D bad -s 192.0.2.8/32 -j DROP", "COMMIT"]
form("D41.8", "iptables.rules", "# Generated by iptables-save\n" + "".join(r + "\n" for r in rules), ["198.51.100.1", "198.51.100.0/25", "192.0.2.1"], faults=7, passed=1)
form("D41.8", "ip6tables.sh", "ip6tables -A INPUT -s 2001:db8::/32 -j DROP\niptables -w -I INPUT 1 -s 198.51.100.1 -j DROP\n", ["2001:db8::/32", "198.51.100.1"])
nft = "table inet filter {\n\tset bad {\n\t\ttype ipv4_addr\n\t\tflags interval,timeout\n\t\telements = { 198.51.100.0/24, 203.0.113.1-203.0.113.5,\n\t\t\t     192.0.2.1 timeout 1h expires 59m30s500ms, 192.0.2.2 comment \"a, } b\",\n\t\t\t     192.0.2.3 . 80, 192.0.2.4 counter packets 1 bytes 2 }\n\t}\n\tset good {\n\t\ttype ipv4_addr\n\t\telements = { 192.0.2.9 }\n\t}\n\tchain in {\n\t\tip saddr @bad drop\n\t\tip saddr 192.0.2.10 accept\n\t}\n}\n"
form("D41.6, D41.9", "nft.conf", nft, ["198.51.100.0/24", "192.0.2.1", "192.0.2.2", "192.0.2.4"] + spans(("203.0.113.1", "203.0.113.5")), faults=3)
form("D41.9", "one-line.nft", "table inet f {\n set a { type ipv4_addr; elements = { 192.0.2.1 } }\n set b {\n elements = { 192.0.2.2 } } set c { elements = { 192.0.2.3 } }\n}\n", ["192.0.2.2"], faults=2)
form("D41.9", "elements", "elements = { 192.0.2.0/24, 2001:db8::/32, 198.51.100.999 }\n", ["192.0.2.0/24", "2001:db8::/32"], faults=1)
form("D41.9", "verdict.map", "add element inet filter verdicts { 192.0.2.1 : drop, 192.0.2.2 : accept, 2001:db8::1 : drop }\n", ["192.0.2.1", "2001:db8::1"], passed=1)

form("D41.10", "nginx.conf", "deny 198.51.100.1;\nallow 192.0.2.0/24;\ndeny 2001:db8::/32; # x\ndeny unix:;\nallow all;\ndeny all;\n", ["198.51.100.1", "2001:db8::/32"], faults=2, passed=1)
form("D41.10", "nginx-line.conf", "deny 198.51.100.1;\ndeny 198.51.100.2; deny 198.51.100.3;\nallow 192.0.2.1;deny 192.0.2.2;\n", four(1), faults=2)
form("D41.10", "geo.conf", "geo $bad {\n    ranges;\n    default 0;\n    198.51.100.0/28 1;\n    192.0.2.0-192.0.2.3 scanner;\n    203.0.113.0/28 0;\n    203.0.113.16/28 \"\";\n    203.0.113.32/28 allow;\n    proxy 10.0.0.1;\n    delete 198.51.100.7;\n}\n", ["198.51.100.0/28", "192.0.2.0/30"], faults=1, passed=3)
form("D41.10", "geo-comment", "198.51.100.0/28 0; # off\n198.51.100.16/28 1; # on\n", ["198.51.100.16/28"], passed=1)
form("D41.10", "geo-lines", "198.51.100.0/28 0;\n198.51.100.16/28 1;\ndefault 1;\n", ["198.51.100.16/28"], faults=1, passed=1)
form("D41.11", "htaccess", "<RequireAll>\nRequire all granted\nRequire not ip 198.51.100 203.0.113.7\nRequire ip 192.0.2.1\n</RequireAll>\n", ["198.51.100.0/24", "203.0.113.7"], passed=1)
form("D41.11", "htaccess-old", "Order allow,deny\nAllow from all\nDeny from 198.51.100.1 10.1\nDeny from 10.2.0.0/255.255.0.0\nDeny from evil.example\nDeny from all\n", ["198.51.100.1", "10.1.0.0/16", net("10.2.0.0/255.255.0.0")], faults=2)
form("D41.11", "htaccess-none", "<RequireNone>\nRequire ip 198.51.100.1\n</RequireNone>\nRequire ip 192.0.2.1\n", ["198.51.100.1"], passed=1)
form("D41.11", "hosts.deny", "ALL: 198.51.100.1\nsshd, vsftpd: 203.0.113. 192.0.2.0/255.255.255.0\nALL: [2001:db8::]/32\nALL: 10. EXCEPT 10.1.\nALL: ALL\nALL: .example.com\nALL: DE\nsshd: 192.0.2.9: allow\nsshd: 192.0.2.9: spawn x\n", ["198.51.100.1", "203.0.113.0/24", net("192.0.2.0/255.255.255.0"), "2001:db8::/32"], faults=5, passed=1)
form("D41.11", "sendmail-access", "Connect:198.51.100.1 REJECT\nConnect:203.0.113.9 OK\n", [], faults=2)
form("D41.11", "hosts.allow", "ALL: 198.51.100.1\n", [], passed=1)
form("D41.12", "level1.p2p", "# x\nOrg, Inc: a:198.51.100.0-198.51.100.255\nB:192.0.2.1-192.0.2.9\nC:192.0.2.9-192.0.2.1\nD:001.002.003.000-001.002.003.255\nE\n", spans(("198.51.100.0", "198.51.100.255"), ("192.0.2.1", "192.0.2.9")), faults=3)
form("D41.12", "cdb", "198.51.100.1:\n198.51.100.2:scanner\n203.0.113.:net\n\"2001:db8::1\":x\n2001:db8::2:x\n198.51.100.3:80\n198.51.100.4:allow\n198.51.100.5:198.51.100.6\n", ["198.51.100.1", "198.51.100.2", "203.0.113.0/24", "2001:db8::1", "198.51.100.3"], faults=2, passed=1)
form("D41.12", "list.yaml", "---\nversion: 2\nblocked:\n  - 198.51.100.1\n  - \"198.51.100.2\" # x\n  - '2001:db8::/32'\n  - ip: 192.0.2.1\nothers:\n  - 192.0.2.2\n", four(2) + ["2001:db8::/32"], faults=2)
form("D41.12", "allowed.yml", "whitelist:\n- 198.51.100.1\n", [], passed=1)

import io, tarfile, zipfile, bz2, lzma


def zipped(*files, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        for name, text in files:
            z.writestr(name, text)
    return out.getvalue()


one = zipped(("lists/", ""), ("lists/a.csv", "id,ip\n" + "".join(f"{i},{h}\n" for i, h in enumerate(bad[:500]))), ("__MACOSX/._a.csv", "x"))
form("D41.13", "one.zip", one, bad[:500])
form("D41.13", "stored.zip", zipped(("a.txt", "198.51.100.1\n"), method=zipfile.ZIP_STORED), four(1))
form("D41.13", "two.zip", zipped(("a.txt", "198.51.100.1\n"), ("b.txt", "198.51.100.2\n")), [], refused="is a zip with 2 files")
form("D41.13", "cut.zip", one[:-30], [], refused="is a zip that is truncated or damaged")
flipped = bytearray(zipped(("a.txt", "198.51.100.1\n" * 9), method=zipfile.ZIP_STORED))
flipped[60] ^= 1
form("D41.13", "flipped.zip", bytes(flipped), [], refused="is a zip that is truncated or damaged")
form("D41.13", "twice.zip", zipped(("a.txt.gz", gzip.compress(b"198.51.100.1\n"))), [], refused=r"is packed twice \(gzip\)")
tar = io.BytesIO()
with tarfile.open(fileobj=tar, mode="w") as t:
    t.add(folder / "hosts", "hosts")
text = b"198.51.100.1\n"
for name, data, kind in [("x.xz", lzma.compress(text), "xz"), ("x.bz2", bz2.compress(text), "bzip2"), ("x.zst", b"\x28\xb5\x2f\xfd\x04\0", "zstd"), ("x.7z", b"7z\xbc\xaf\x27\x1c\0", "a 7z archive"), ("x.rar", b"Rar!\x1a\x07\x01\0", "a RAR archive"), ("x.tar", tar.getvalue(), "a tar archive"), ("x.pdf", b"%PDF-1.7\n", "a PDF"), ("x.db", b"SQLite format 3\0", "an SQLite database"), ("x.16", text.decode().encode("utf-16"), "UTF-16"), ("x.16le", text.decode().encode("utf-16-le"), "UTF-16"), ("x.16be", text.decode().encode("utf-16-be"), "UTF-16"), ("x.32", text.decode().encode("utf-32"), "UTF-32"), ("x.elf", b"\x7fELF\2\1\1\0", "a program"), ("x.bin", b"1\0\0\0abc", r"no text \(it has zero bytes\)")]:
    form("D41.13", name, data, [], refused=f"^the file is {kind}: ")

stix = lambda n, pattern, **more: {"type": "indicator", "spec_version": "2.1", "id": f"indicator--{n}", "created": "2026-01-01T00:00:00Z", "modified": f"2026-01-0{n}T00:00:00Z", "pattern": pattern, "pattern_type": "stix", "valid_from": "2026-01-01T00:00:00Z", **more}
value = lambda h: f"[ipv4-addr:value = '{h}']"
objects = [stix(1, value("198.51.100.1")), {"type": "identity", "id": "identity--1"}, stix(2, value("192.0.2.1"), revoked=True), stix(3, "[network-traffic:dst_ref.type = 'ipv4-addr' AND network-traffic:dst_ref.value = '198.51.100.2']"), stix(4, value("192.0.2.2"), valid_until="2026-01-05T00:00:00Z"), stix(5, value("192.0.2.3"), indicator_types=["benign"]), stix(6, "[url:value = 'http://192.0.2.4/']")]
later = {**stix(1, value("192.0.2.1")), "modified": "2025-01-01T00:00:00Z"}
bundle = {"type": "bundle", "id": "bundle--1", "objects": objects + [later]}
form("D41.14", "bundle.json", json.dumps(bundle), four(2), passed=5)
form("D41.14", "bundle-pretty.json", json.dumps(bundle, indent=4, sort_keys=True), four(2), passed=5)
form("D41.14", "bundle-20.json", json.dumps({"type": "bundle", "id": "bundle--2", "spec_version": "2.0", "objects": [{k: v for k, v in stix(1, value("198.51.100.1")).items() if k not in ("spec_version", "pattern_type")}, "x"]}), four(1), faults=1)

event["Event"].update(info="x", analysis="0", Orgc={"name": "CIRCL"})
mine = detected(bad[:600]) + [h for each in inside for h in detected(each)]
told = sum(1 for chosen in [bad[:600]] + inside for i, _ in enumerate(chosen)) - len(mine)
form("D41.15", "misp-event-alone.json", json.dumps(event), mine, passed=told)
form("D41.15", "misp-event-pretty.json", json.dumps(event, indent=2), mine, passed=told)
form("D41.15", "misp-search.json", json.dumps({"response": [event, {"Event": {"uuid": "v", "info": "y", "Attribute": [], "Object": []}}]}), mine, passed=told)
form("D41.15", "misp-attributes.json", json.dumps({"response": {"Attribute": [attribute(i, h) for i, h in enumerate(bad[:600])]}}), detected(bad[:600]), passed=600 - len(detected(bad[:600])))
