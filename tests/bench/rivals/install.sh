#!/bin/sh
# Installs missing Debian packages of the programs that the benchmarks compare libloco with:
# OpenMPI, Redis, Concurrency Kit and cyclictest. If a package cannot be installed, the script says
# so, and its comparisons are left out.

missing=
for package in openmpi-bin libopenmpi-dev redis-server redis-tools libck-dev rt-tests jq; do
    status=$(dpkg-query -W -f='${db:Status-Status}' $package 2>/dev/null)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
    echo "no Debian here: comparisons with$missing are left out"
    exit 0
fi

as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
echo "installing rivals:$missing${as_root:+ (with sudo)}"

$as_root apt-get -q update
for package in $missing; do
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y --no-install-recommends install $package >/dev/null </dev/null ||
        echo "$package cannot be installed: its comparisons are left out"
done
