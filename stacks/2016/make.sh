#!/bin/sh
# Create .venv in this folder, a virtual environment with the stack of 2016. `make stack-2016` calls this script. An
# optional argument is the path of the Python interpreter. By default, the script uses the first suitable interpreter.
#
# The packages of 2016 can't be compiled for Python versions after 3.11. posix_ipc and msgpack-python need a C compiler
# and Python's headers.
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
        break  # don't replace a chosen Python that isn't suitable
    fi
done
if [ -z "$python" ]; then
    echo "stack-2016: ${1:+$1 is not suitable. }This stack needs Python 3.11 or 3.10 with its venv module. Install Python 3.11" \
        "(Debian: apt-get install python3.11-venv python3.11-dev; or pyenv install 3.11) or give its path:" \
        "make stack-2016 STACK_PYTHON=/path/to/python3.11" >&2
    exit 1
fi
trap 'rm -rf .venv/build' EXIT

rm -rf .venv
"$python" -m venv .venv
pip() {
    .venv/bin/python -m pip --quiet --disable-pip-version-check "$@"
}

# These packages build the packages of 2016. Half of the packages of 2016 import pkg_resources at run time, and this is
# the last setuptools that contains it.
pip install 'setuptools==80.9.0' 'wheel==0.45.1' 'Cython==0.29.37'

# msgpack-python contains C++ code from the Cython of 2016, which doesn't compile for Python 3.11. Without compiled
# code, the package silently uses Python code and is many times slower than in 2016. So generate the C++ code again.
messages=$(grep -o '^msgpack-python==[0-9.]*' requirements.txt)
pip download --no-deps --no-binary :all: --no-build-isolation --dest .venv/build "$messages"
tar -xzf .venv/build/msgpack-python-*.tar.gz -C .venv/build
rm .venv/build/msgpack-python-*/msgpack/*.cpp
pip install --no-deps --no-build-isolation .venv/build/msgpack-python-*/

pip install --no-deps --no-build-isolation -r requirements.txt

# In each program of this environment, restore the removed features of Python before other code runs.
packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
printf '%s\nimport python_of_2016\n' "$PWD/shim" > "$packages/python_of_2016.pth"

# Import everything once, so that an incompatible package fails now and not in a study.
(cd project && ../.venv/bin/python manage.py check >/dev/null)
.venv/bin/python -W ignore::UserWarning -c 'import asgi_ipc, asgi_redis, channels, daphne.server, gunicorn.app.wsgiapp, msgpack._unpacker'
touch .venv/.ready
