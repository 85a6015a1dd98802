#!/bin/sh
# Checks the Debian packages with lintian, and installs, uses and removes them in a bare Debian that
# has nothing else. Needs root (or user namespaces) and this machine's Debian mirror.
#
#      test_deb.sh FOLDER
set -eu
cd "$(dirname "$0")/../.."
folder=$(cd "$1" && pwd)
here=$PWD/tests/install

lintian --allow-root --fail-on error,warning "$folder"/*.changes

if command -v systemd-analyze >/dev/null; then
    unit=$folder/hiloco-node.service
    sed 's|/usr/bin/hiloco|/bin/true|' harness/debian/hiloco.hiloco-node.service >"$unit"
    systemd-analyze verify --man=no "$unit"
fi

debian=$(tests/debian_sources) || { echo "skipped: a bare Debian is made on Debian only" && exit 0; }
mmdebstrap --quiet --variant=apt --format=null --include=ca-certificates \
    --customize-hook="mkdir \"\$1\"/packages && cp '$folder'/*[!m]_*.deb \"\$1\"/packages" \
    --customize-hook="cp '$here/deb_in_chroot.sh' \"\$1\"" \
    --customize-hook='chroot "$1" sh /deb_in_chroot.sh' \
    ${debian% *} /dev/null ${debian#* }
