import subprocess,sys,os,time,resource
prog=sys.argv[1]
tests=subprocess.run([prog,'--list'],capture_output=True,text=True).stdout
suites=[]
for l in tests.splitlines():
    if l and not l[0] in ' |`├└─│' : suites.append(l.split(':')[0].strip())
os.environ['HILOCO_BUILD']='build'
for s in suites:
    if len(sys.argv)>2 and s not in sys.argv[2:]: continue
    a=resource.getrusage(resource.RUSAGE_CHILDREN); t=time.time()
    r=subprocess.run([prog,'--filter',s+'/*'],capture_output=True,text=True)
    b=resource.getrusage(resource.RUSAGE_CHILDREN)
    syn=[l for l in r.stderr.splitlines() if 'Synthesis' in l]
    print(f"{b.ru_utime-a.ru_utime+b.ru_stime-a.ru_stime:7.1f} cpu {time.time()-t:7.1f} wall {s} rc={r.returncode} {syn[0][17:] if syn else ''}",flush=True)
    if r.returncode: open('/tmp/w/me/suite/fail-'+s,'w').write(r.stderr)
