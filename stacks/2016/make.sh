#!/bin/sh
# Makes .venv in this folder: the stack of 2016 in a virtual environment of its own. `make stack-2016` calls it; an
# argument names the Python to take instead of the first one that fits.
#
# It takes Python 3.10 or 3.11: packages of 2016 do not compile on what came later. A C compiler and Python's headers
# are needed, for posix_ipc and msgpack-python.
set -eu
cd "$(dirname "$0")"

fits() {
    "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info[:2] not in ((3, 10), (3, 11)))' 2>/dev/null
}

python=
for candidate in "$@" python3.11 python3.10 python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[01].*/bin/python; do
    if fits "$candidate"; then
        python=$candidate
        break
    fi
    if [ $# -gt 0 ]; then
        break  # the one that was named, or none
    fi
done
if [ -z "$python" ]; then
    echo "stack-2016: ${1:+$1 will not do: }Python 3.11 or 3.10 is needed, with its venv module; install one" \
        "(Debian: apt-get install python3.11-venv python3.11-dev; or pyenv install 3.11) or name it:" \
        "make stack-2016 STACK_PYTHON=/path/to/python3.11" >&2
    exit 1
fi
trap 'rm -rf .venv/build' EXIT

rm -rf .venv
"$python" -m venv .venv
pip() {
    .venv/bin/python -m pip --quiet --disable-pip-version-check "$@"
}

# What builds the rest: the last setuptools that has pkg_resources, which half of these packages import when they run.
pip install 'setuptools==80.9.0' 'wheel==0.45.1' 'Cython==0.29.37'

# The C++ that came in this package was made by a Cython of 2016, and does not compile on Python 3.11; without it the
# package falls back to Python in silence, and is many times slower than what people had. So it is made anew.
messages=$(grep -o '^msgpack-python==[0-9.]*' requirements.txt)
pip download --no-deps --no-binary :all: --no-build-isolation --dest .venv/build "$messages"
tar -xzf .venv/build/msgpack-python-*.tar.gz -C .venv/build
rm .venv/build/msgpack-python-*/msgpack/*.cpp
pip install --no-deps --no-build-isolation .venv/build/msgpack-python-*/

pip install --no-deps --no-build-isolation -r requirements.txt

# What Python has taken away since is given back to every program of this environment, before anything else is run.
packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
printf '%s\nimport python_of_2016\n' "$PWD/shim" > "$packages/python_of_2016.pth"

# All of it is imported once: what cannot run here shows now and not in a study.
(cd project && ../.venv/bin/python manage.py check >/dev/null)
.venv/bin/python -W ignore::UserWarning -c 'import asgi_ipc, asgi_redis, channels, daphne.server, gunicorn.app.wsgiapp, msgpack._unpacker'
touch .venv/.ready
