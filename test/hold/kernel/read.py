"""Prints the networks that the kernel drops packets from, on one line, for each line of standard input: with `nft` that takes seconds."""
import importlib.machinery
import importlib.util
import sys
import types

loader = importlib.machinery.SourceFileLoader('follow', sys.argv[1])
follow = importlib.util.module_from_spec(importlib.util.spec_from_loader('follow', loader))
sys.dont_write_bytecode = True
loader.exec_module(follow)
driver = follow.Nftables(types.SimpleNamespace(name='weir_follow'))
for _ in sys.stdin:
    found = generation = None
    # A change while the set is read hides an element.
    while generation != (generation := driver.call(driver.current)):
        found = driver.read()
    # None where the set or its rules are missing.
    print(' '.join(map(follow.cidr, found or [])), flush=True)
