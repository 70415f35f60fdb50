"""Stands in for systemd in a chroot, where systemd cannot run: owns the socket of weir.socket, and runs weir.service as the installed unit
says (user, folder, environment, command). Commands are lines of standard input: start, restart, stop. Prints `started` and `stopped`.
It does not sandbox, and does not wait for READY=1."""
import os
import re
import shlex
import signal
import socket
import subprocess
import sys

root, address = sys.argv[1:]
host, port = address.rsplit(":", 1)
listener = socket.create_server((host, int(port)), backlog=4096)
print("listening on", listener.getsockname()[1], flush=True)
child = None


def unit():
    with open(f"{root}/usr/lib/systemd/system/weir.service", encoding="utf8") as file:
        pairs = re.findall(r"^(\w+)=(.*)$", file.read(), re.M)
    return dict(pairs)


def start():
    global child
    settings = unit()
    environment = {"PATH": "/usr/bin:/bin", "LISTEN_FDS": "1"}
    environment.update(each.split("=", 1) for each in shlex.split(settings["Environment"]))
    with open(root + settings["EnvironmentFile"].lstrip("-"), encoding="utf8") as file:
        environment.update(line.strip().split("=", 1) for line in file if re.match(r"[A-Z]", line))
    command = f"cd {settings['WorkingDirectory']} && LISTEN_PID=$$ exec {settings['ExecStart']}"
    user = settings["User"]
    arguments = ["chroot", f"--userspec={user}:{user}", root, "sh", "-c", command]
    # Descriptor 3, as systemd hands it over.
    child = subprocess.Popen(arguments, env=environment, stdout=sys.stderr, pass_fds=[3])
    print("started", flush=True)


def stop():
    global child
    if child is not None:
        child.send_signal(signal.SIGTERM)
        child.wait(30)
    child = None
    print("stopped", flush=True)


if listener.fileno() != 3:
    os.dup2(listener.fileno(), 3)
for line in sys.stdin:
    word = line.strip()
    if word in ("stop", "restart"):
        stop()
    if word in ("start", "restart") and child is None:
        start()
stop()
