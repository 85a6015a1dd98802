# SIGNAL WHOM(make|group|runner) SECONDS
cd /tmp/w/suite
ls -a /tmp > /tmp/w/me/suite/before
setsid make test > /tmp/w/me/suite/ctrlc.log 2>&1 & 
sleep 0.5
m=$(pgrep -n -x make); s=$(ps -o sid= -p $m | tr -d ' ')
sleep $3
ps -eo pid,sid,args --sort=pid | awk -v s=$s '$2==s' | cut -c1-100
r=$(pgrep -s $s -f run_all | head -1)
pids=$(python3 - $r <<'P'
import sys,os
sys.path.insert(0,'/tmp/w/suite/tests'); sys.dont_write_bytecode=True
import suite
os.getpid=lambda: int(sys.argv[1])
print(*suite.descendants())
P
)
echo "make $m runner $r descendants: $(echo $pids | wc -w)"
b=$(date +%s.%N)
case $2 in make) kill -$1 $m;; group) kill -$1 -- -$m;; runner) kill -$1 $r;; esac
while kill -0 $m 2>/dev/null && [ -d /proc/$m ] ; do sleep 0.05; done
e=$(date +%s.%N)
echo "ended after $(echo "$e - $b" | bc) s"
for p in $pids; do [ -d /proc/$p ] && ps -o pid,ppid,sid,args -p $p | tail -1; done
ls -a /tmp | diff /tmp/w/me/suite/before -
tail -12 /tmp/w/me/suite/ctrlc.log
