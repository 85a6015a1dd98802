#!/bin/sh
# Runs as root in a bare Debian: installs the packages in /packages, uses them, and removes them.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

ours() {
    find / -xdev \( -path /proc -o -path /packages -o -path /tmp \) -prune -o \
        \( -name '*loco*' -o -path '*hiloco*' \) -print | grep -v '^/var/lib/dpkg/info' || :
}

step() {
    echo "  $*"
}

[ -z "$(ours)" ] || { echo "it was not bare:" && ours && exit 1; }
apt-get -qq update

step "the programs are installed without the development files"
apt-get -qq -y --no-install-recommends install /packages/hiloco_*.deb /packages/libloco0.3_*.deb >/dev/null
hiloco --version
[ -f /usr/share/bash-completion/completions/hiloco ]

step "a scenario runs, and its figures are drawn"
cd /tmp
hiloco run /usr/share/hiloco/configs/quickstart.yaml --mode virtual --quiet --out /tmp/run
hiloco plot /tmp/run >/dev/null 2>&1
[ -s /tmp/run/output.png ]
hiloco run /usr/share/hiloco/configs/servo.yaml --quiet --out /tmp/servo
hiloco export-fmu buck --out /tmp/buck.fmu

step "a program is built against the libraries, and joins a run's check"
apt-get -qq -y --no-install-recommends install /packages/*.deb gcc libc6-dev make pkg-config >/dev/null
cp -r /usr/share/hiloco/node /tmp/node
make -s -C /tmp/node
printf '#include <loco/loco.h>\nint main(void) { struct loco_fabric *f; return loco_shm_open(&f, "/tmp/meet"); }\n' \
    >/tmp/loco.c
gcc -o /tmp/loco /tmp/loco.c $(pkg-config --cflags --libs loco)
/tmp/loco

step "Python runs a scenario, with a model that is a class, and pytest finds the plugin"
apt-get -qq -y --no-install-recommends install python3-pytest >/dev/null
cp -r /packages/pytest /tmp/pytest
(cd /tmp/pytest && python3 -m pytest -q -p no:cacheprovider -k 'python or limits')

step "generated code becomes a model, and the documents are there"
apt-get -qq -y --no-install-recommends install universal-ctags >/dev/null
[ -f /usr/share/doc/hiloco/models/buck.md ]
cp -r /usr/share/doc/hiloco/examples/generated /tmp/loops
for code in "ert ert" "ert reusable" "plecs plecs"; do
    hiloco wrap "${code% *}" "/tmp/loops/${code#* }" >/dev/null
    make -s -C "/tmp/loops/${code#* }"
done
make -s -C /tmp/loops
hiloco run /tmp/loops/loops.yaml --quiet --out /tmp/loops/out --set record.0.decimation=10

step "nothing of them stays when they are purged"
apt-get -qq -y purge hiloco python3-hiloco libloco0.3 libloco-dev libhiloco0.3 libhiloco-dev >/dev/null
left=$(ours)
[ -z "$left" ] || { echo "left: $left" && exit 1; }
echo "the packages install, run and go"
