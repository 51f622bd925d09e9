# Gunicorn reads this file, which reads the project's configuration. Options can't reset all of these settings.
import os
from pathlib import Path

__file__ = os.environ["DEPLOYED_CONFIG"] or "gunicorn.conf.py"
if os.path.exists(__file__):
    exec(compile(Path(__file__).read_bytes(), __file__, "exec"))

bind = f"{os.environ['BENCH_BIND']}:{os.environ['BENCH_PORT']}"
daemon, pidfile, certfile, keyfile = False, None, None, None
user, group = os.geteuid(), os.getegid()
control_socket_disable = True  # as in gunicorn.conf.py
