#!/bin/bash
# Makes a folder of Debian's libraries and headers for aarch64, which serves a cross compiler and
# QEMU as the root. It unpacks packages there and installs nothing on this machine.
#
#     root.sh FOLDER PACKAGE...
set -euo pipefail
root=$1
shift

debian=$("$(dirname "$0")/../debian_sources")
packages=$*
rm -rf "$root"
mkdir -p "$root"
mmdebstrap --quiet --architectures=arm64 --variant=extract --include="${packages// /,}" \
    ${debian% *} "$root" ${debian#* }
# Installing a package would choose among alternatives, so that is done here.
ln -sf hdf5-serial.pc "$root/usr/lib/aarch64-linux-gnu/pkgconfig/hdf5.pc"
rm -rf "$root"/usr/share/{doc,man,locale}
