"""Runs commands in processes of their own, forked from one that has imported linkwork already.

A request is one line of JSON {args, cwd, before, obedient}; the answer is one line
{code, out, err}. The process is the command's own: its exit code, signals, files and streams are
those of `linkwork`; only importing is done beforehand.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
import tempfile
import threading
import traceback

ASKED_FOR_LATE = (
    *(
        "matplotlib.backends.backend_agg",
        "matplotlib.backends.backend_svg",
        "matplotlib.figure",
        "mpl_toolkits.mplot3d",
    ),
    *("rich.console", "rich.progress", "rich.table", "rich.tree", "scipy.optimize", "viser"),
)
PATIENCE = 900.0
"""Seconds after which a command that hangs is killed,
so that its test fails and the others still run."""


def obey_permissions() -> None:
    """Root may write anywhere; without these two capabilities it obeys permissions as everybody
    does."""
    libc = ctypes.CDLL(None, use_errno=True)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    assert libc.capget(head, sets) == 0
    sets[0] &= ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    assert libc.capset(head, sets) == 0


def child(request: dict, out: int, err: int) -> None:
    """Never returns."""
    code = 99
    try:
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")
        os.chdir(request["cwd"])
        if request["obedient"]:
            obey_permissions()
        exec(request["before"], {"__name__": "before"})
        from linkwork_command import main

        sys.argv = ["linkwork", *request["args"]]
        main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def import_all() -> None:
    """Every command, and what commands import only while they run; processes inherit nothing
    else."""
    from linkwork.cli.application import load_commands

    load_commands()
    for name in ASKED_FOR_LATE:
        importlib.import_module(name)


def serve() -> None:
    import_all()
    for line in sys.stdin:
        request = json.loads(line)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            pid = os.fork()
            if not pid:
                child(request, out.fileno(), err.fileno())
            patience = threading.Timer(PATIENCE, os.kill, (pid, signal.SIGKILL))
            patience.start()
            _, status = os.waitpid(pid, 0)
            patience.cancel()
            patience.join()  # no thread is left when the next process is forked
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
        print(
            json.dumps(
                {"code": os.waitstatus_to_exitcode(status), "out": texts[0], "err": texts[1]}
            ),
            flush=True,
        )


if __name__ == "__main__":
    serve()
