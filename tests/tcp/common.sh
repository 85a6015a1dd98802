# What the tests of tests/tcp share; sourced by each.
source "$(dirname "${BASH_SOURCE[0]}")/../guest/checks.sh"
fabric=tcp

# The 20-converter scenario over tcp, slow: it is about function, not about time. The loops sleep between
# their steps, the plants catch up at once, and the law is the integral alone. tests/rdma has the same.
slow=(configs/dcdc20-verbs.yaml --set fabric=tcp --set 'verbs.nodes=[]' --set mode=realtime --set controller.law=pi
      --set 'controller.gains={kp_per_v: 0, ki_per_v_s: 0.03}'
      --set controller.period_us=200000 --set converters.period_us=50000
      --set converters.catch_up_limit=0 --set validity.missed_percent=25
      --set controller.cpu=-1 --set converters.cpu=-1
      --set controller.priority=0 --set converters.priority=0
      --set validity.required=false --set controller.wait=hybrid --set converters.wait=hybrid)

# What every channel does with a process for each node. What a channel says to bad arguments is the same
# on every fabric, and left out.
channels=('histories/*' '*/*_processes' '!*/errors_*' '!*/arguments_*' '!kvstore/configuration_*')
