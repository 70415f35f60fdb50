"""Stands in for systemd in a chroot, where systemd cannot run: owns the socket of weir.socket, and runs weir.service as the installed unit
says (user, folder, environment, command). The stand-in of systemctl appends start, restart and stop to /run/supervisor, and waits for as
many lines in /run/supervisor.done. It does not sandbox; the ready line counts as READY=1. Ends with its standard input."""
import os
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
import threading

root = sys.argv[1]
listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
os.dup2(listener.fileno(), 3)
child = None


def start():
    global child
    with open(f"{root}/usr/lib/systemd/system/weir.service", encoding="utf8") as file:
        unit = dict(re.findall(r"^(\w+)=(.*)$", file.read(), re.M))
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LISTEN_FDS": "1"}
    environment.update(each.split("=", 1) for each in shlex.split(unit["Environment"]))
    with open(root + unit["EnvironmentFile"].lstrip("-"), encoding="utf8") as file:
        environment.update(line.strip().split("=", 1) for line in file if re.match(r"[A-Z]", line))
    command = f"cd {unit['WorkingDirectory']} && LISTEN_PID=$$ exec {unit['ExecStart']}"
    arguments = ["chroot", f"--userspec={unit['User']}:{unit['Group']}", root, "sh", "-c", command]
    child = subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True, pass_fds=[3])
    for line in child.stdout:
        if line.startswith("weir ready"):
            break
    output = child.stdout
    threading.Thread(target=lambda: [None for _ in output], daemon=True).start()


def stop():
    global child
    if child is not None:
        child.send_signal(signal.SIGTERM)
        child.wait(60)
    child = None


print("listening on", listener.getsockname()[1], flush=True)
done = 0
while not select.select([sys.stdin], [], [], 0.05)[0]:
    with open(f"{root}/run/supervisor", encoding="utf8") as file:
        words = file.read().split()
    for word in words[done:]:
        if word in ("stop", "restart"):
            stop()
        if word in ("start", "restart") and child is None:
            start()
        done += 1
        with open(f"{root}/run/supervisor.done", "a", encoding="utf8") as file:
            print(word, file=file)
stop()
