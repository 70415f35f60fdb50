"""Prints the changes of the set block4 of this network namespace as the kernel commits them: ms of CLOCK_MONOTONIC, +NETWORK or -NETWORK."""
import importlib.machinery
import importlib.util
import socket
import struct
import sys
import time

loader = importlib.machinery.SourceFileLoader('follow', sys.argv[1])
follow = importlib.util.module_from_spec(importlib.util.spec_from_loader('follow', loader))
sys.dont_write_bytecode = True
loader.exec_module(follow)
events = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
events.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
events.bind((0, 0))
events.setsockopt(270, 1, 7)  # NETLINK_ADD_MEMBERSHIP, NFNLGRP_NFTABLES
print('listening', flush=True)
SIGNS = {0xa00 | follow.NEW_ELEMENTS: '+', 0xa00 | follow.DEL_ELEMENTS: '-'}
while True:
    data = events.recv(1 << 20)
    at, place, lines = time.monotonic() * 1000, 0, []
    while place + 16 <= len(data):
        size, kind = struct.unpack_from('=IH', data, place)
        for value in (value for part, value in follow.attributes(data[place + 20:place + size]) if part == 3 and kind in SIGNS):
            for address, flag in follow.ELEMENT[4].findall(value):
                if flag[-1:] != b'\1':
                    lines.append(f'{at:.3f} {SIGNS[kind]}{socket.inet_ntoa(address)}\n')
        place += size + 3 & ~3
    sys.stdout.writelines(lines)
    sys.stdout.flush()
