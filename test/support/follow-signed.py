"""Fetches once for each line of standard input, with the code of weir-follow; prints the networks that it would load as JSON, or null."""
import importlib.machinery, importlib.util, json, sys

loader = importlib.machinery.SourceFileLoader('weir_follow', sys.argv.pop(1))
follow = importlib.util.module_from_spec(importlib.util.spec_from_loader('weir_follow', loader))
sys.dont_write_bytecode = True
loader.exec_module(follow)
weir, networks, since, before = follow.Weir(follow.read_options()), follow.Networks({}), None, None
weir.wait = 1
for count, _ in enumerate(sys.stdin):
    try:
        # Everything, and changes since the first version, in turns.
        full = before is None or count % 2 == 0
        answer = weir.fetch(full, None if full else before[0])
        now = follow.Networks(dict.fromkeys(() if answer.full else before[1], 0.0))
        now.change(answer.deleted, answer.new)
        before = before or (answer.version, list(now.ends))
        print(json.dumps({'networks': [follow.cidr(network) for network in now.order]}), flush=True)
    except follow.NoAnswer as error:
        print(json.dumps({'networks': None, 'error': str(error)}), flush=True)
