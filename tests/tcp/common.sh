# Functions that the tests of tests/tcp share. Each test sources this file.
source "$(dirname "${BASH_SOURCE[0]}")/../guest/checks.sh"
fabric=tcp

# The 20-converter scenario over tcp.
slow=(configs/dcdc20-verbs.yaml --set fabric=tcp --set 'verbs.nodes=[]' --set mode=realtime "${slowly[@]}")

# The tests of every channel that run with a process for each node. Tests of bad arguments are left
# out, as their results are the same on every fabric.
channels=('histories/*' '*/*_processes' '!*/errors_*' '!*/arguments_*' '!kvstore/configuration_*')
