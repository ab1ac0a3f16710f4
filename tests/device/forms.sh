# What verify_matrix.sh and verify_tensors.sh share: the forms that were named, and their numbers. To be sourced.

is_wanted() { [ "$wanted" = "  " ] || case $wanted in *" $1 "*) true ;; *) false ;; esac; }

# The 64-bit mask of the numbers of a type, and the bits that are set.
mask_of() { # TYPE any
    [ "$2" = any ] && echo '0xffffffffffffffff 0' && return
    case $1 in
    f16) echo 0x9fff9fff9fff9fff 0x2000200020002000 ;;
    bf16) echo 0x83ff83ff83ff83ff 0x3c003c003c003c00 ;;
    tf32 | f32) echo 0x83ffffff83ffffff 0x3c0000003c000000 ;;
    e4m3 | e5m2) echo 0x9f9f9f9f9f9f9f9f 0x2020202020202020 ;;
    f64) echo 0x803fffffffffffff 0x3fc0000000000000 ;;
    *) echo '0xffffffffffffffff 0' ;;
    esac
}
