#!/bin/sh
# Compiles kernels/*.cu with nvcc and kernels/*.py with Triton to assets/ptx/*.ptx, and records their sources.
#
#   scripts/make_ptx.sh             all kernels; removes assets without a source
#   scripts/make_ptx.sh NAME...     only kernels/NAME.cu or kernels/NAME.py
#   scripts/make_ptx.sh --check     needs no compiler: lists the assets older than kernels/; exit 1 if any
#
# NVCC is nvcc 13.0 (V13.0.88), which compiled the assets: other versions write other PTX. It is found in the
# PATH or in /usr/local/cuda/bin. PYTHON is a python3 with Triton (pip install triton==3.9.0 into a virtual
# environment); no GPU is needed. Without it, the .py kernels are left unchanged, unless they are named.
#
# assets/ptx/MANIFEST       asset, file, sha256: the .ptx itself and each of our sources that it was made from
# assets/ptx/resources.csv  resources of every entry on every architecture, as ptxas reports them: occupancy
#                           is known without a GPU and without a toolkit
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."

assets=assets/ptx
python=${PYTHON:-python3}
PATH=$PATH:/usr/local/cuda/bin
architectures="75 80 86 89 90 100 120"

# The virtual architecture that a kernel is compiled for: 75, unless it uses newer features.
architecture_of() {
    case $1 in
    redux | fastest | reproducible | cooperative | bfloat_promote | triton_* | lab_latency | async_copy | tensor_core) echo 80 ;;
    bulk_copy | bulk_reduce | cluster | tma_* | specialised_sum | lab_tile_column) echo 90 ;;
    gemm_row_max) echo 90a ;; # and no other: wgmma
    *) echo 75 ;;
    esac
}

source_of() { if [ -f "kernels/$1.py" ]; then echo "kernels/$1.py"; else echo "kernels/$1.cu"; fi; }

headers_of() { sed -n 's/^#include "\(.*\)"/kernels\/\1/p' "$1"; }

# The source; for a .cu also our headers that it includes, and those that they include.
sources_of() {
    source=$(source_of "$1")
    echo "$source"
    [ "$source" = "kernels/$1.cu" ] || return 0
    headers_of "$source" | while read -r header; do
        sources_of_header "$header"
    done | sort -u
}

sources_of_header() {
    [ -f "$1" ] || return 0
    echo "$1"
    headers_of "$1" | while read -r header; do
        sources_of_header "$header"
    done
}

# "HASH  FILE" for each of the files.
hashes_of() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

existing() { while read -r file; do [ ! -f "$file" ] || echo "$file"; done; }

check() {
    stale=$(
        # shellcheck disable=SC2046 # names without blanks
        hashes_of $(cut -d ' ' -f 2 $assets/MANIFEST | sort -u | existing) |
            awk 'NR == FNR { hash[$2] = $1; next }
                !($2 in hash) { print $1 ": " $2 " is missing"; next }
                hash[$2] != $3 { print $1 ": " $2 " has changed" }' - $assets/MANIFEST
        for source in kernels/*.cu kernels/*.py; do
            name=${source##*/} name=${name%.*}
            sources_of "$name" | sed "s|^|$name $source |"
        done | awk 'NR == FNR { recorded[$1, $2]; next }
            ($1 ".ptx", $3) in recorded { next }
            { print $1 ".ptx: " ($2 == $3 ? "was never made" : $3 " is not recorded") }' $assets/MANIFEST -
        for asset in $assets/*.ptx; do
            name=${asset##*/} name=${name%.ptx}
            [ -f "kernels/$name.py" ] || [ -f "kernels/$name.cu" ] || echo "$name.ptx: kernels/$name.cu is gone"
        done
    )
    [ -z "$stale" ] && return 0
    printf '%s\n' "$stale" >&2
    echo "make_ptx.sh: assets/ptx is stale against kernels/: run 'make ptx' where nvcc and Triton are" >&2
    return 1
}

# Names with internal linkage contain hashes and nvcc's process number: in
# _ZN47_INTERNAL_e7a13096_10_shuffle_cu_40c95bdc_11937 the length 47 is followed by the source file
# (10 characters) and, in some, the process 11937. Such a part, and likewise N..._GLOBAL__N__..., is replaced
# by the C++ name of an unnamed namespace, 12_GLOBAL__N_1, so that a source always gives the same PTX. Strings
# of .debug_str are written as numbers, on several lines each.
without_process_numbers() {
    awk '
        function plain(text,   done, part, fixed, digits, bytes) {
            while (match(text, /[0-9][0-9](_INTERNAL_|_GLOBAL__N__)[0-9a-f]+_[0-9]+_/)) {
                part = substr(text, RSTART + 2, RLENGTH - 2)
                fixed = length(part)
                match(part, /[0-9]+_$/)
                fixed += substr(part, RSTART, RLENGTH - 1) + length("_40c95bdc_")
                match(text, /[0-9][0-9](_INTERNAL_|_GLOBAL__N__)/)
                for (digits = 2; digits <= 3; digits++) { # of the length, at the end of what may be more digits
                    bytes = substr(text, RSTART + 2 - digits, digits) + 0
                    if (bytes >= fixed - 1 && bytes <= fixed + 8) break
                }
                if (digits > 3) { print "make_ptx.sh: unknown form of name: " text >"/dev/stderr"; exit 1 }
                done = done substr(text, 1, RSTART + 1 - digits) "12_GLOBAL__N_1"
                text = substr(text, RSTART + 2 + bytes)
            }
            return done text
        }
        function flush(   i, line) {
            if (string == "") return
            string = plain(string)
            for (i = 1; i <= length(string); i++) line = line code[substr(string, i, 1)] ","
            print ".b8 " line "0"
            string = ""
        }
        BEGIN { for (i = 1; i < 128; i++) { character[i] = sprintf("%c", i); code[character[i]] = i } }
        /^\t?\.section[ \t]+\.debug_str/ { inside = 1 }
        inside && /^\.b8 / {
            count = split(substr($0, 5), number, ",")
            for (i = 1; i <= count; i++) if (number[i] != 0) string = string character[number[i] + 0]
            if (number[count] == 0) flush()
            next
        }
        { print plain($0) }'
}

# Lowers .version to the first that ptxas accepts for this file (older drivers refuse newer text), and makes
# the names of sources relative: ours to the repository, CUDA's own headers to their base name.
compile() {
    name=$1 architecture=$(architecture_of "$1") source=$(source_of "$1")
    flags=-lineinfo lowest=
    [ "$name" = probe ] && flags=-rdc=true lowest=6.3 # no kernel: functions that are merged into other modules
    case $source in
    *.py) TRITON_DEFAULT_FP_FUSION=1 $python -B scripts/make_triton.py "$PWD/$source" "$architecture" >"$work/$name.raw" ;;
    *) ${NVCC:-nvcc} -ptx $flags -std=c++17 -arch="compute_$architecture" -o "$work/$name.raw" "$source" ;;
    esac
    sed -E -e "s|^([[:space:]]*\\.file[[:space:]]+[0-9]+ \")$PWD/|\\1|" \
        -e 's|^([[:space:]]*\.file[[:space:]]+[0-9]+ ")/.*/|\1|' "$work/$name.raw" |
        without_process_numbers >"$work/$name.full"
    for version in $lowest 7.2 7.4 7.8 8.0 8.3 8.6 9.0; do
        sed -E "s|^\\.version .*|.version $version|" "$work/$name.full" >"$work/$name.ptx"
        ptxas -arch="sm_$architecture" -o "$work/$name.cubin" "$work/$name.ptx" 2>"$work/$name.log" && return 0
    done
    cat "$work/$name.log" >&2
    return 1
}

# ptxas -v reports each entry in turn; the size of its machine code is that of its .text section.
resources() {
    name=$1
    for architecture in $architectures; do
        least=$(architecture_of "$name") exact=$architecture
        [ "$architecture" -ge "${least%a}" ] || continue
        case $least in *a) [ "$architecture" = "${least%a}" ] && exact=$least || continue ;; esac
        ptxas -v -arch="sm_$exact" -o "$work/$name.cubin" "$work/$name.ptx" 2>"$work/$name.log"
        readelf -SW "$work/$name.cubin" 2>/dev/null | awk -v asset="$name.ptx" -v architecture="sm_$architecture" '
            FILENAME == "-" {
                if (match($0, /\.text\.[^ ]+ +PROGBITS +[0-9a-f]+ +[0-9a-f]+ +[0-9a-f]+/)) {
                    split(substr($0, RSTART + 6, RLENGTH - 6), field, / +/)
                    size[field[1]] = field[5]
                }
                next
            }
            /Compiling entry function/ { split($0, field, "\047"); entry = field[2] }
            /bytes spill stores/ {
                spills = 0
                for (i = 1; i < NF; i++) if ($(i + 1) == "bytes" && $(i + 3) ~ /^(stores|loads)/) spills += $i
            }
            /Used [0-9]+ registers/ {
                shared = 0
                for (i = 1; i < NF; i++) {
                    if ($i == "Used") registers = $(i + 1)
                    if ($(i + 1) == "bytes" && $(i + 2) ~ /^smem/) shared = $i
                }
                print asset "," entry "," architecture "," registers "," shared "," spills ",0x" size[entry]
            }' - "$work/$name.log"
    done | while IFS=, read -r asset entry architecture registers shared spills sass; do
        echo "$asset,$entry,$architecture,$registers,$shared,$spills,$((sass))"
    done
}

# Replaces the lines of one asset in MANIFEST and resources.csv.
record() {
    name=$1
    touch $assets/MANIFEST $assets/resources.csv
    {
        awk -v asset="$name.ptx" '$1 != asset' $assets/MANIFEST
        for file in "$assets/$name.ptx" $(sources_of "$name"); do
            echo "$name.ptx $file $(hashes_of "$file" | cut -d " " -f 1)"
        done
    } | sort >"$work/MANIFEST"
    {
        echo "asset,entry,architecture,registers,static_shared_bytes,spill_bytes,sass_bytes"
        awk -F , -v asset="$name.ptx" 'NR > 1 && $1 != asset' $assets/resources.csv | cat - "$work/$name.csv" | sort
    } >"$work/resources.csv"
    cp "$work/MANIFEST" "$work/resources.csv" $assets/
}

forget() {
    awk -v asset="$1.ptx" '$1 != asset' $assets/MANIFEST >"$work/MANIFEST"
    awk -F , -v asset="$1.ptx" '$1 != asset' $assets/resources.csv >"$work/resources.csv"
    cp "$work/MANIFEST" "$work/resources.csv" $assets/
    rm -f "$assets/$1.ptx"
}

if [ "${1-}" = --check ]; then
    check
    exit
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p $assets

if [ $# -eq 0 ]; then
    for asset in $assets/*.ptx; do
        name=$(basename "$asset" .ptx)
        [ "$name" = '*' ] || [ -f "$(source_of "$name")" ] || forget "$name"
    done
    set -- $(cd kernels && ls ./*.cu | sed 's|^\./||; s|\.cu$||')
    if $python -c 'import triton' 2>/dev/null; then
        set -- "$@" $(cd kernels && ls ./*.py | sed 's|^\./||; s|\.py$||')
    else
        echo "make_ptx.sh: $python has no Triton: kernels/*.py are left as they are (set PYTHON)" >&2
    fi
fi
for name; do
    echo "  PTX   $assets/$name.ptx"
    compile "$name"
    resources "$name" >"$work/$name.csv"
    (
        flock 9 # two runs at a time must not lose each other's lines
        cp "$work/$name.ptx" "$assets/$name.ptx"
        record "$name"
    ) 9>>$assets/MANIFEST
done
