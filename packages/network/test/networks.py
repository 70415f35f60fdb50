"""Judges networks with Python's own ipaddress module. One JSON question a line, one JSON answer a line.

A string is a text to parse: its canonical text, or null. A list of [first, last] is a set of ranges: its networks.
"""
import ipaddress
import json
import sys


def parse(text):
    _, slash, prefix = text.partition("/")
    # Stricter than the module: no zone ids, no netmasks, no leading zeros in the prefix.
    if "%" in text:
        return None
    if slash and not (prefix.isascii() and prefix.isdigit() and prefix == str(int(prefix))):
        return None
    try:
        # Host bits are cleared, as the module does when it is not strict.
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
    # IPv4-mapped IPv6 is IPv4, which the module leaves to its caller; wider than a /8 it is refused.
    if network.version == 6 and network.prefixlen >= 96 and network.network_address.ipv4_mapped is not None:
        if network.prefixlen < 104:
            return None
        network = ipaddress.ip_network((network.network_address.ipv4_mapped, network.prefixlen - 96))
    # A host is its bare address.
    return str(network.network_address if network.num_addresses == 1 else network)


def coalesce(ranges):
    networks = []
    for first, last in ranges:
        networks += ipaddress.summarize_address_range(ipaddress.ip_address(first), ipaddress.ip_address(last))
    return [str(network) for network in ipaddress.collapse_addresses(networks)]


for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps(parse(question) if isinstance(question, str) else coalesce(question)))
