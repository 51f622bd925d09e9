#!/bin/sh
# Delete the files of Python packages that no run opens: tests, stubs, sources of Cython and of translations, and debug
# symbols. deploy/Dockerfile runs this script before it copies the packages.
#
#     deploy/slim.sh VIRTUAL_ENVIRONMENT
set -eu

cd "$1"/lib/python3*/site-packages
find . -type d \( -name tests -o -path '*/twisted/*test' \) -prune -exec rm -r {} +
# Keep *.c, which Autobahn opens when it is imported.
find . -type f \( -name '*.po' -o -name '*.py[ix]' -o -name '*.pxd' -o -name '*.a' \) -delete
# The libraries in folders like `scipy.libs` have few symbols, and old versions of patchelf have changed their headers.
find . -name '*.libs' -prune -o -name '*.so' -exec strip --strip-unneeded {} +
