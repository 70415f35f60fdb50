"""The drivers of weir-follow against nft and ipset, in the network namespace of this process (test/integrations/follow.test.ts)."""
import importlib.machinery
import importlib.util
import json
import random
import resource
import subprocess
import sys
import types

path, seed, rounds, many = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
loader = importlib.machinery.SourceFileLoader('follow', path)
follow = importlib.util.module_from_spec(importlib.util.spec_from_loader('follow', loader))
sys.dont_write_bytecode = True
loader.exec_module(follow)
draw = random.Random(seed)
options = types.SimpleNamespace(name='golden')


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def listed():
    """The sorted networks of `nft list`."""
    found = []
    for family, name in ((4, 'block4'), (6, 'block6')):
        table = json.loads(output('nft', '-j', 'list', 'set', 'inet', 'golden', name))['nftables']
        for element in next(part['set'] for part in table if 'set' in part).get('elem', []):
            if isinstance(element, str):
                found.append(follow.parse(element))
            elif 'prefix' in element:
                found.append(follow.parse(f'{element["prefix"]["addr"]}/{element["prefix"]["len"]}'))
            else:
                first, last = (follow.first_of(follow.parse(address)) for address in element['range'])
                found += follow.cidrs(first, last, family)
    return sorted(found)


def network(family, prefix=None):
    bits = 32 if family == 4 else 128
    prefix = draw.randrange(bits + 1) if prefix is None else prefix
    # Few leading bits: networks are often adjacent, nested or the last of the family.
    address = draw.choice((0, (1 << bits) - 1, draw.getrandbits(bits), draw.getrandbits(4) << bits - 4, draw.getrandbits(6) << bits - 8))
    return (follow.IPV6 if family == 6 else 0) | address >> bits - prefix << bits - prefix << 8 | prefix


def contains(networks, family, address):
    return any(follow.family_of(one) == family and follow.first_of(one) <= address <= follow.last_of(one) for one in networks)


def has(family, address):
    """`nft get element`."""
    text = follow.cidr((follow.IPV6 if family == 6 else 0) | address << 8).split('/')[0]
    done = subprocess.run(['nft', 'get', 'element', 'inet', 'golden', f'block{family}', f'{{ {text} }}'], capture_output=True, check=False)
    return done.returncode == 0


def check(driver, networks, where):
    wanted = networks.enforced()
    assert driver.read() == wanted, (where, [follow.cidr(one) for one in wanted])
    if isinstance(driver, follow.Nftables):
        assert listed() == wanted, (where, [follow.cidr(one) for one in wanted], [follow.cidr(one) for one in listed()])
        for family, bits in ((4, 32), (6, 128)):
            edges = [one for one in wanted if follow.family_of(one) == family]
            for edge in draw.sample(edges, min(2, len(edges))):
                for address in (follow.first_of(edge) - 1, follow.first_of(edge), follow.last_of(edge), follow.last_of(edge) + 1):
                    if 0 <= address < 1 << bits:
                        assert has(family, address) == contains(wanted, family, address), (where, follow.cidr(edge), address)


def random_changes(driver):
    networks = follow.Networks({})
    driver.replace([])
    for step in range(rounds):
        family = draw.choice((4, 6))
        added = {network(draw.choice((family, 4, 6))): 1.0 for _ in range(draw.randrange(6))}
        if step % 7 == 0:
            added[network(family, draw.choice((0, 1)))] = 1.0
        deleted = draw.sample(networks.order, min(len(networks.order), draw.randrange(8)))
        if step % 5 == 4:
            deleted = list(networks.order)
        before = networks.enforced()
        networks.change(deleted, added)
        driver.networks = networks.enforced()
        driver.change(*follow.difference(before, networks.enforced()))
        check(driver, networks, (type(driver).__name__, seed, step))
    driver.uninstall()


def many_at_once(driver):
    half = many // 2
    networks = sorted({(at << 9) << 8 | 24 for at in range(half)} | {follow.IPV6 | 0x2001 << 120 | at << 65 << 8 | 64 for at in range(half)})
    driver.networks = networks
    driver.replace(networks)
    assert driver.read() == networks == listed()
    driver.change(networks[::1000], [])
    driver.change([], networks[::1000])
    assert driver.read() == networks
    assert not driver.disturbed()
    output('nft', 'add', 'element', 'inet', 'golden', 'block4', '{ 255.255.255.255 }')
    assert driver.disturbed()
    assert driver.read() != networks
    driver.replace(networks)
    assert driver.read() == networks


random_changes(follow.Nftables(options))
if len(sys.argv) > 5:
    random_changes(follow.Ipset(options))
output('nft', 'add', 'table', 'inet', 'other')
many_at_once(follow.Nftables(options))
follow.Nftables(options).uninstall()
assert output('nft', 'list', 'tables').split() == ['table', 'inet', 'other']
for text in ('192.0.2.1/24', '10.0.0.0/33', '::/129', 'a', '1.2.3', '1.2.3.4/-1', ''):
    try:
        follow.parse(text)
    except ValueError:
        continue
    raise AssertionError(text)
print(json.dumps({'peak': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))
