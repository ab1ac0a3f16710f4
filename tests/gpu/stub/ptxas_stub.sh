#!/bin/sh
# A stub of ptxas: its "cubin" is the PTX, as the stub of nvdisasm takes it; each entry has 21 registers.
# $STUB_PTXAS_FAILS: it prints these words and exits with status 255. $STUB_PTXAS_ARGUMENTS: a file that gets its arguments.
if [ "$1" = --version ]; then
    echo "Cuda compilation tools, release 1.2, V1.2.3"
    exit
fi
[ -z "${STUB_PTXAS_ARGUMENTS-}" ] || echo "$@" >"$STUB_PTXAS_ARGUMENTS"
if [ "${STUB_PTXAS_FAILS-}" ]; then
    echo "$STUB_PTXAS_FAILS"
    exit 255
fi
while [ "$1" != -o ]; do shift; done
cp "$3" "$2"
awk '/\.entry/ {
    sub(/.*\.entry[ \t]*/, "")
    sub(/[^A-Za-z0-9_$].*/, "")
    print "ptxas info    : Compiling entry function \047" $0 "\047 for \047sm_90\047"
    print "ptxas info    : Function properties for " $0
    print "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads"
    print "ptxas info    : Used 21 registers, used 1 barriers, 2048 bytes smem"
}' "$2"
