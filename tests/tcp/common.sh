# What the tests of tests/tcp share; sourced by each.
source "$(dirname "${BASH_SOURCE[0]}")/../guest/checks.sh"
fabric=tcp

# The 20-converter scenario over tcp.
slow=(configs/dcdc20-verbs.yaml --set fabric=tcp --set 'verbs.nodes=[]' --set mode=realtime "${slowly[@]}")

# What every channel does with a process for each node. What a channel says to bad arguments is the same
# on every fabric, and left out.
channels=('histories/*' '*/*_processes' '!*/errors_*' '!*/arguments_*' '!kvstore/configuration_*')
