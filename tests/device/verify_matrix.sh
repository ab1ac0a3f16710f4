#!/bin/sh
# Compares all emulated instructions on matrices: the emulator against this GPU. They are mma, wmma, ldmatrix,
# stmatrix and movmatrix (src/ptx/matrix.def); each form has a small kernel and is compared thread by thread:
#
#   tests/device/verify_matrix.sh [build/redviz [NAME...]]     NAME of a form; default: all. Exit 1 if any
# differs
#
# A kernel is run twice: with numbers near 1, and with arbitrary bits (NaN, infinities, subnormals). wmma's
# kernels load A, B and C by rows and by columns from global and shared memory, in all eight combinations, and
# store D. Ends with the number of forms that agree, and the number of registers of D that differ from the
# emulator's within the error of tensor cores. With REDVIZ_CUDA=build/tests/gpu/libcuda_emulated.so the
# emulator replaces the GPU.
set -u
cd "$(dirname "$0")/../.." || exit 2
redviz=${1:-build/redviz}
[ $# -gt 0 ] && shift
wanted=" $* "
. tests/device/forms.sh
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
agree=0 differ=0 registers=0 others=0

header='.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .pred %p<4>;
.reg .b32 %r<32>;
.reg .b64 %q<32>;
.shared .align 128 .b8 tile[8192];
ld.param.u64 %q0, [in];
ld.param.u64 %q1, [out];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
and.b32 %r2, %r0, 31;
shr.u32 %r3, %r0, 5;
mov.u32 %r4, tile;
mov.u32 %r5, 48;
mad.wide.u32 %q0, %r1, 16384, %q0;
mad.wide.u32 %q1, %r1, 32768, %q1;'

declared() { echo ".reg .${1%#*} %$2<${1#*#}>;"; } # type#count NAME
braces() { # NAME type#count
    i=0
    text=
    while [ "$i" -lt "${2#*#}" ]; do
        text="$text${text:+, }%$1$i"
        i=$((i + 1))
    done
    echo "{$text}"
}

run() { # NAME
    if said=$("$redviz" "$work/k.ptx" --args 'in=int[8192]:random(-2147483648,2147483647), out=int[16384]:zero' --grid 2 --block 64 \
        --trace-blocks 0-1 --verify 2>&1); then
        agree=$((agree + 1))
    else
        differ=$((differ + 1))
        printf '%s:\n' "$1"
        printf '%s\n' "$said" | sed 's/^/    /'
    fi
    counts=$(printf '%s\n' "$said" | sed -n 's/.*recording: \([0-9]*\) registers of products.*; \([0-9]*\) differ.*/\1 \2/p')
    [ -n "$counts" ] || return
    registers=$((registers + ${counts% *}))
    others=$((others + ${counts#* }))
    [ "${counts#* }" = 0 ] || echo "$1: ${counts#* } of ${counts% *} registers of D have other bits"
}

# Registers of one operand from `in`, masked.
filled() { # NAME type#count MASKS FIRST
    i=0
    and=${3% *}
    or=${3#* }
    while [ "$i" -lt "${2#*#}" ]; do
        at=$((($4 + i) * 512))
        echo "ld.global.b64 %q9, [%q8+$at]; and.b64 %q9, %q9, $and; or.b64 %q9, %q9, $or;"
        case $2 in
        f64*) echo "mov.b64 %$1$i, %q9;" ;;
        *) echo "cvt.u32.u64 %r9, %q9; mov.b32 %$1$i, %r9;" ;;
        esac
        i=$((i + 1))
    done
}

mma() { # SHAPE TYPES d a b c; two of them, the second adds to the first
    is_wanted "mma.$1.$2" || return
    types=${2#satfinite.}
    types=${types#rn.}
    for numbers in near any; do
        {
            echo "$header"
            for pair in "$3 d" "$4 a" "$5 b" "$6 c"; do declared ${pair% *} ${pair#* }; done
            echo 'mad.wide.u32 %q8, %r0, 8, %q0;'
            a=$(echo "$types" | cut -d. -f2) b=$(echo "$types" | cut -d. -f3) c=$(echo "$types" | cut -d. -f4)
            filled a "$4" "$(mask_of "$a" $numbers)" 0
            filled b "$5" "$(mask_of "$b" $numbers)" 8
            filled c "$6" "$(mask_of "$c" $numbers)" 12
            echo "mma.sync.aligned.$1.row.col.$2 $(braces d "$3"), $(braces a "$4"), $(braces b "$5"), $(braces c "$6");"
            echo "mma.sync.aligned.$1.row.col.$2 $(braces d "$3"), $(braces a "$4"), $(braces b "$5"), $(braces d "$3");"
            echo 'mad.wide.u32 %q8, %r0, 64, %q1;'
            i=0
            while [ "$i" -lt "${3#*#}" ]; do
                case $3 in
                f64*) echo "st.global.f64 [%q8+$((8 * i))], %d$i;" ;;
                *) echo "st.global.b32 [%q8+$((4 * i))], %d$i;" ;;
                esac
                i=$((i + 1))
            done
            printf 'ret;\n}\n'
        } >"$work/k.ptx"
        run "mma.$1.$2 ($numbers)"
    done
}

# Memory: A's and B's numbers in tile and out[0..], C's in out[8192..], D of each warp from out[16384..] on
# (bytes of the block); each warp begins 256 bytes after the one before.
wmma() { # SHAPE TYPES d a b c
    is_wanted "wmma.$1.$2" || return
    types=${2#satfinite.}
    types=${types#rn.}
    d=${types%%.*} c=${types##*.} a=$(echo "$types" | cut -d. -f2)
    case $types in *.*.*.*) ;; *) a=f16 ;; esac
    for numbers in near any; do
        ab=$(mask_of "$a" $numbers)
        of_c=$(mask_of "$c" $numbers)
        {
            echo "$header"
            for pair in "$3 d" "$4 a" "$5 b" "$6 c"; do declared ${pair% *} ${pair#* }; done
            cat <<PTX
mov.u32 %r6, %r0;
FILL:
mad.wide.u32 %q8, %r6, 8, %q0;
mad.wide.u32 %q9, %r6, 8, %q1;
mad.lo.u32 %r7, %r6, 8, %r4;
ld.global.b64 %q10, [%q8];
and.b64 %q11, %q10, ${ab% *};
or.b64 %q11, %q11, ${ab#* };
st.shared.b64 [%r7], %q11;
st.global.b64 [%q9], %q11;
and.b64 %q11, %q10, ${of_c% *};
or.b64 %q11, %q11, ${of_c#* };
st.global.b64 [%q9+8192], %q11;
add.u32 %r6, %r6, 64;
setp.lt.u32 %p0, %r6, 1024;
@%p0 bra FILL;
bar.sync 0;
mad.wide.u32 %q2, %r3, 256, %q1;
mad.lo.u32 %r8, %r3, 256, %r4;
cvt.u64.u32 %q3, %r8;
cvta.shared.u64 %q3, %q3;
mad.wide.u32 %q4, %r3, 8192, %q1;
PTX
            for way in 'row row row' 'row row col' 'row col row' 'row col col' 'col row row' 'col row col' 'col col row' 'col col col'; do
                set -- "$1" "$2" "$3" "$4" "$5" "$6" $way
                from_a='.global [%q2]' from_b='.shared [%r8]' from_c='.global [%q2+8192]'
                case $way in
                row\ col*) from_a='.shared [%r8]' from_b='.global [%q2]' ;;
                col\ row*) from_a=' [%q3]' from_b=' [%q2]' ;;
                col\ col*) from_c='.shared::cta [%r8]' ;;
                esac
                echo "wmma.load.a.sync.aligned.$7.$1${from_a% *}.$a $(braces a "$4"), ${from_a#* }, 48;"
                echo "wmma.load.b.sync.aligned.$8.$1${from_b% *}.$a $(braces b "$5"), ${from_b#* }, %r5;"
                echo "wmma.load.c.sync.aligned.$9.$1${from_c% *}.$c $(braces c "$6"), ${from_c#* }, 48;"
                echo "wmma.mma.sync.aligned.$7.$8.$1.$2 $(braces d "$3"), $(braces a "$4"), $(braces b "$5"), $(braces c "$6");"
                echo "wmma.store.d.sync.aligned.$9.$1.global.$d [%q4+16384], $(braces d "$3"), 48;"
            done
            printf 'ret;\n}\n'
        } >"$work/k.ptx"
        run "wmma.$1.$2 ($numbers)"
    done
}

move() { # NAME BODY: %r16 to %r19 are this thread's words, and what it has in the end; %r10: its 16 bytes of tile
    is_wanted "$1" || return
    cat >"$work/k.ptx" <<PTX
$header
mad.wide.u32 %q8, %r0, 16, %q0;
ld.global.v4.u32 {%r16, %r17, %r18, %r19}, [%q8];
mad.lo.u32 %r10, %r0, 16, %r4;
st.shared.v4.u32 [%r10], {%r16, %r17, %r18, %r19};
st.shared.v4.u32 [%r10+1024], {%r19, %r16, %r17, %r18};
mad.lo.u32 %r11, %r3, 512, %r4;
cvt.u64.u32 %q3, %r10;
cvta.shared.u64 %q3, %q3;
bar.sync 0;
$2
bar.sync 0;
ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r10+1024];
mad.wide.u32 %q9, %r0, 32, %q1;
st.global.v4.u32 [%q9], {%r16, %r17, %r18, %r19};
st.global.v4.u32 [%q9+16], {%r20, %r21, %r22, %r23};
ret;
}
PTX
    run "$1"
}

words() { case $1 in x1) echo '{%r16}' ;; x2) echo '{%r17, %r16}' ;; *) echo '{%r16, %r17, %r18, %r19}' ;; esac; }
move movmatrix 'movmatrix.sync.aligned.m8n8.trans.b16 %r17, %r16; movmatrix.sync.aligned.m8n8.trans.b16 %r18, %r18;'
for count in x1 x2 x4; do
    for trans in '' .trans; do
        move "ldmatrix.$count$trans" "ldmatrix.sync.aligned.m8n8.$count$trans.shared.b16 $(words $count), [%r10];"
        move "ldmatrix.$count$trans.generic" "ldmatrix.sync.aligned.m8n8.$count$trans.b16 $(words $count), [%q3];"
        move "stmatrix.$count$trans" "stmatrix.sync.aligned.m8n8.$count$trans.shared::cta.b16 [%r10+1024], $(words $count);"
    done
done

# The rows of matrix.def, one alternative each: MMA(shape, "types", "d", "a", "b", "c").
forms() {
    sed -n "s/^$1(\([a-z0-9]*\), *\"\([^\"]*\)\", *\"\([^\"]*\)\", *\"\([^\"]*\)\", *\"\([^\"]*\)\", *\"\([^\"]*\)\")/\1:\2:\3:\4:\5:\6/p" \
        src/ptx/matrix.def | awk -F: '
    function expand(done, rest,    word, more, count, parts, i) {
        if (rest == "") { print $1 ":" substr(done, 2) ":" $3 ":" $4 ":" $5 ":" $6; return }
        word = rest; sub(/ .*/, "", word)
        more = rest; if (!sub(/^[^ ]* */, "", more)) more = ""
        if (word ~ /^{/) { expand(done, more); expand(done "." substr(word, 2, length(word) - 2), more); return }
        count = split(word, parts, "|")
        for (i = 1; i <= count; i++) { split(word, parts, "|"); expand(done "." parts[i], more) }
    }
    { expand("", $2) }'
}
for form in $(forms MMA); do
    IFS=: read -r shape types d a b c <<FORM
$form
FORM
    mma "$shape" "$types" "$d" "$a" "$b" "$c"
done
for form in $(forms WMMA); do
    IFS=: read -r shape types d a b c <<FORM
$form
FORM
    wmma "$shape" "$types" "$d" "$a" "$b" "$c"
done

echo "$others of $registers registers of D have other bits than the emulator's"
echo "$agree agree, $differ differ"
[ "$differ" -eq 0 ]
