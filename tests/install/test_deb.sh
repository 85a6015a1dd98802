#!/bin/sh
# Checks the Debian packages with lintian, and installs, uses and removes them in a bare Debian.
#
#      test_deb.sh FOLDER
set -eu
cd "$(dirname "$0")/../.."
folder=$(cd "$1" && pwd)

lintian --allow-root --fail-on error,warning "$folder"/*.changes

if command -v systemd-analyze >/dev/null; then
    unit=$folder/hiloco-node.service
    sed 's|/usr/bin/hiloco|/bin/true|' harness/debian/hiloco.hiloco-node.service >"$unit"
    systemd-analyze verify --man=no "$unit"
fi

rm -rf "$folder/packages"
mkdir "$folder/packages"
cp "$folder"/*[!m]_*.deb tests/install/deb_in_chroot.sh "$folder/packages"
cp -r docs/examples/pytest "$folder/packages"
tests/bare_debian "$folder/packages" deb_in_chroot.sh
