#!/bin/sh
# Run a program that refuses to run as root: no_root.sh COMMAND [ARGUMENT]. If the current user is root, run the program
# as the user postgres, or as nobody. Only root may use RUN_DIR, so the other user needs root's permission to enter
# folders.

if [ "$(id -u)" = 0 ]; then
    user=postgres
    id -u "$user" >/dev/null 2>&1 || user=nobody
    set -- --bounding-set=-all,+dac_override --inh-caps=-all,+dac_override --ambient-caps=+dac_override "$@"
    set -- setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups --no-new-privs "$@"
fi
exec "$@"
