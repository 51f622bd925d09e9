#!/bin/sh
# Runs a program that refuses to run as root, or makes a folder of its own: no_root.sh COMMAND [ARGUMENT]. Where this is
# root, it runs as the user postgres, or nobody. RUN_DIR is root's alone, so that user needs root's way into folders.

if [ "$(id -u)" = 0 ]; then
    user=postgres
    id -u "$user" >/dev/null 2>&1 || user=nobody
    set -- --bounding-set=-all,+dac_override --inh-caps=-all,+dac_override --ambient-caps=+dac_override "$@"
    set -- setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups --no-new-privs "$@"
fi
exec "$@"
