#!/bin/sh
# A stub of nvdisasm: two instructions for each entry of a "cubin", which in the stub of the driver is PTX.
# $STUB_NVDISASM_FAILS: it prints these words and exits with status 1.
for cubin; do :; done # the last argument
if [ "${STUB_NVDISASM_FAILS-}" ]; then
    echo "$STUB_NVDISASM_FAILS"
    exit 1
fi
awk '
    /\.entry/ {
        name = $0
        sub(/.*\.entry[ \t]*/, "", name)
        sub(/[^A-Za-z0-9_$].*/, "", name)
        printf "\t.section\t.text.%s,\"ax\",@progbits\n\t.align\t128\n.text.%s:\n", name, name
        print "\t//## File \"stub.cu\", line 7"
        print "        /*0000*/                   LDC R1, c[0x0][0x28] ;"
        print "\t//## File \"stub.cu\", line 8"
        print "        /*0010*/               @P0 EXIT ;"
    }' "$cubin"
