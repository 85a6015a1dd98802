#!/bin/bash
# Makes a folder of Debian's libraries and headers for aarch64, which a cross compiler and QEMU take for
# the root: packages are unpacked there, and nothing is installed on this machine.
#
#     root.sh FOLDER PACKAGE...
set -euo pipefail
root=$1
shift

. /etc/os-release
[ "$ID" = debian ] || { echo "its libraries come from Debian's packages, and this is no Debian"; exit 1; }
sources=$(ls /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -1)
packages=$*
rm -rf "$root"
mmdebstrap --quiet --architectures=arm64 --variant=extract --include="${packages// /,}" \
    "$VERSION_CODENAME" "$root" "$sources"
# What is a choice among alternatives is made when a package is installed.
ln -sf hdf5-serial.pc "$root/usr/lib/aarch64-linux-gnu/pkgconfig/hdf5.pc"
rm -rf "$root"/usr/share/{doc,man,locale}
