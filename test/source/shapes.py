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
