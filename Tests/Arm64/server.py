"""Runs the Python server with Swift in an emulated machine, under load. Prints how the load and the server ended.

Usage: server.py DIRECTORY REQUESTS [NAME=VALUE…]
DIRECTORY has the application and the program that makes the load. Only the server gets the variables.
"""

import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys

PORT = 8080
# The emulated machine is slow. The supervisor must not kill a worker that writes its image.
GRACEFUL_MILLISECONDS = 1_800_000
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40


def enable_loopback() -> None:
    request = struct.pack("16sh14x", b"lo", IFF_UP | IFF_RUNNING)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, request)


def main() -> int:
    directory, requests, variables = sys.argv[1], sys.argv[2], dict(each.split("=", 1) for each in sys.argv[3:])
    enable_loopback()
    application = "python-server-application:application"
    command = [sys.executable, "-m", "peregrine", "--port", str(PORT)]
    command += ["--graceful-timeout", str(GRACEFUL_MILLISECONDS), application]
    with subprocess.Popen(command, env={**os.environ, **variables}) as server:
        load = subprocess.run([sys.executable, f"{directory}/python-server-load.py", str(PORT), requests], check=False)
        server.send_signal(signal.SIGTERM)
        print(f"load: {load.returncode}, server: {server.wait()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
