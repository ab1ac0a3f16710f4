#!/bin/sh
# Runs public test suites by redviz, without a GPU, and writes what passes to assets/suites/README.md.
#
#   suites.sh FOLDER [SUITE...]      of numba-cuda, cupy, pycuda, tinygrad, zluda, cuda-samples, libcudacxx, cub
#                                    (default: all)
#
# FOLDER is where you have put their sources; redviz has none of them. What is missing is said and left out:
#   FOLDER/venv          numba-cuda, cupy, pycuda, tinygrad: a Python environment with numba-cuda[cu13],
#                        cupy-cuda13x, pycuda, pytest, psutil, cffi, filecheck, ml_dtypes, torch
#   FOLDER/cupy          cupy: a copy of github.com/cupy/cupy, for its tests
#   FOLDER/ZLUDA         zluda: a copy of github.com/vosen/ZLUDA
#   FOLDER/cuda-samples  cuda-samples: a copy of github.com/NVIDIA/cuda-samples; needs nvcc
#   FOLDER/pycuda, tinygrad        copies of github.com/inducer/pycuda, github.com/tinygrad/tinygrad
#   FOLDER/cccl          libcudacxx: a copy of github.com/NVIDIA/cccl, for its tests of barriers, atomics, pipelines
#                        and asynchronous copies; needs nvcc
#   FOLDER/catch2        cub (in cccl): a copy of github.com/catchorg/Catch2; needs nvcc
# A copy may say its revision in a file REVISION. A suite is run file by file, JOBS (2) at a
# time, each for at most LIMIT (120) seconds; ONLY is a regular expression of the files to run. A file NAME@K.N
# is every Nth test of NAME from the Kth on, so that large ones run side by side. Each file
# leaves FOLDER/results/SUITE/FILE.tsv, with a line "RESULT<TAB>case<TAB>reason" a case, and .out, .err and
# .seconds. With RESUME=1, those that are there are kept.
set -u
home=$(cd "$(dirname "$0")/.." && pwd) || exit 1
redviz=${REDVIZ_BIN:-$home/build/redviz}
limit=${LIMIT:-120}
export REDVIZ_CUDA=/nowhere # also where there is a GPU

# The revision of a copy, if it is known.
revision() {
    cat "$1/REVISION" 2>/dev/null || git -C "$1" rev-parse --short HEAD 2>/dev/null || echo unknown
}
version() {
    "$folder/venv/bin/python" -c "from importlib.metadata import version as v; print(v('$1'))" 2>/dev/null
}

# under COMMAND: runs a command by redviz with the time limit; what it prints goes to $results.out and .err.
under() {
    timeout -k 5 $((limit + 20)) "$redviz" --report --time-limit "$limit" -- "$@" \
        >"$results.out" 2>"$results.err" </dev/null
}
# After a memory fault, or a test of a third of the limit, the rest of the tests run in a new process.
under_pytest() {
    case $results in *@*) part=${results##*@} ;; *) part=0.1 ;; esac
    while rm -f "$results.tsv.rest"; do
        PYTHONPATH=$home/scripts${PYTHONPATH:+:$PYTHONPATH} SUITES_RESULTS=$results.tsv SUITES_PART=$part \
            SUITES_TEST_LIMIT=$((limit / 3)) \
            under "$folder/venv/bin/python" -m pytest -q --tb=short -p no:cacheprovider -p suites_pytest "$@"
        [ -f "$results.tsv.rest" ] || break
    done
}
# in_parts N NAME: NAME@0.N, NAME@1.N, ...
in_parts() {
    seq 0 $(($1 - 1)) | sed "s,.*,$2@&.$1,"
}

# built_run NAME FOLDER ARGUMENTS: a program that nvcc builds of these, run in FOLDER; its status is the result.
built_run() {
    name=$1 at=$2
    shift 2
    if ! timeout "$limit" nvcc -std=c++17 -w -o "$results.program" "$@" -lcuda -lnvrtc >"$results.out" 2>&1; then
        printf 'skipped\t%s\tnvcc alone does not build it in %s s\n' "$name" "$limit" >"$results.tsv" && return
    fi
    cd "$at" && under "$results.program"
    status=$?
    rm -f "$results.program"
    case $status in
    0) printf 'passed\t%s\t\n' "$name" ;;
    *)  if grep -q 'exited 2' "$results.err"; then result=skipped; else result=failed; fi
        printf '%s\t%s\texit status %s\n' "$result" "$name" "$status" ;;
    esac >"$results.tsv"
}

# Of each suite: NAME_revision (empty: it is not there), NAME_files, NAME_run FILE.
numba_cuda_revision() { version numba-cuda; }
numba_cuda_files() {
    cd "$folder"/venv/lib/python*/site-packages/numba_cuda/numba/cuda/tests || exit 1
    find . -name 'test_*.py' -not -path '*/cudasim/*' | sed 's,^\./,,; s,/,.,g; s,\.py$,,' | sort
}
numba_cuda_run() {
    cd "$results_folder" && under_pytest --import-mode=importlib --pyargs "numba.cuda.tests.$1"
}

cupy_revision() { [ -d "$folder/cupy/tests" ] && version cupy-cuda13x; }
cupy_files() {
    in_parts 8 core_tests:test_reduction.py
    in_parts 8 core_tests:test_raw.py
    in_parts 16 math_tests:test_sumprod.py
}
cupy_run() {
    cd "$folder/cupy/tests" &&
        under_pytest --rootdir=. --import-mode=importlib "cupy_tests/$(echo "${1%@*}" | tr : /)"
}

pycuda_revision() { [ -d "$folder/pycuda/test" ] && version pycuda; }
pycuda_files() {
    in_parts 2 test_driver.py
    in_parts 4 test_gpuarray.py
    in_parts 2 test_cumath.py
}
pycuda_run() {
    cd "$folder/pycuda/test" && under_pytest --rootdir=. "${1%@*}"
}

tinygrad_revision() { [ -d "$folder/tinygrad/test" ] && revision "$folder/tinygrad"; }
tinygrad_files() {
    in_parts 16 test_ops.py
    printf '%s\n' test_arange.py test_edgecases.py test_transcendental.py test_uops.py test_tensor.py
}
tinygrad_run() {
    cd "$folder/tinygrad" && DEV=CUDA PYTHONPATH=.${PYTHONPATH:+:$PYTHONPATH} CACHELEVEL=0 under_pytest --rootdir=. "test/backend/${1%@*}"
}

zluda_tests=ZLUDA/ptx/src/test/spirv_run
zluda_revision() { [ -d "$folder/$zluda_tests" ] && revision "$folder/ZLUDA"; }
zluda_files() { python3 "$home/scripts/suites_zluda.py" "$folder/$zluda_tests"; }
zluda_run() {
    under python3 "$home/scripts/suites_zluda.py" "$folder/$zluda_tests" "$1" "$results.tsv"
    # A test that ptxas refuses is none for redviz.
    if ! grep -q "^passed" "$results.tsv" 2>/dev/null && command -v ptxas >/dev/null 2>&1 &&
        ! ptxas -arch=sm_90a -o /dev/null "$folder/$zluda_tests/$1.ptx" >/dev/null 2>&1; then
        printf 'skipped\t%s\tptxas refuses it\n' "$1" >"$results.tsv"
    fi
}

cuda_samples_revision() {
    [ -d "$folder/cuda-samples/Samples" ] && command -v nvcc >/dev/null 2>&1 && revision "$folder/cuda-samples"
}
# Left out: what draws, and what needs libraries of functions or another system.
cuda_samples_files() {
    cd "$folder/cuda-samples/Samples" || exit 1
    needs='<GL/|EGLStream|vulkan|d3d1|cublas|cufft|curand|cusolver|cusparse|<npp|nvjpeg|<mpi.h>|NvSci'
    for sample in [012356]_*/*/; do
        grep -q -r -E "$needs" "$sample" --include='*.cu' --include='*.cpp' --include='*.h' --include='*.cuh' ||
            echo "${sample%/}" | tr / :
    done
}
cuda_samples_run() {
    sample=$folder/cuda-samples/Samples/$(echo "$1" | tr : /)
    set -- "$1" "$sample" -I "$folder/cuda-samples/Common"
    for source in "$sample"/*.cu "$sample"/*.cpp; do
        [ -f "$source" ] && set -- "$@" "$source"
    done
    built_run "$@"
}

libcudacxx_tests=cccl/libcudacxx/test/libcudacxx
libcudacxx_revision() {
    [ -d "$folder/$libcudacxx_tests" ] && command -v nvcc >/dev/null 2>&1 && revision "$folder/cccl"
}
libcudacxx_files() {
    cd "$folder/$libcudacxx_tests" || exit 1
    find cuda/barrier cuda/pipeline* cuda/memcpy_async cuda/atomics -name '*.pass.cpp' 2>/dev/null | tr / : | sort
}
libcudacxx_run() {
    file=$folder/$libcudacxx_tests/$(echo "$1" | tr : /)
    built_run "$1" "$(dirname "$file")" -arch=sm_90 -x cu -DCCCL_IGNORE_DEPRECATED_API \
        -include "$folder/$libcudacxx_tests/force_include.h" -I "$folder/cccl/libcudacxx/include" \
        -I "$folder/cccl/libcudacxx/test/support" "$file"
}

# Each file by the first value of each of its parameters, as a program with the suite's own main.
cub_revision() {
    [ -d "$folder/cccl/cub/test" ] && [ -d "$folder/catch2/extras" ] && command -v nvcc >/dev/null 2>&1 &&
        revision "$folder/cccl"
}
cub_files() {
    printf '%s\n' warp_scan warp_merge_sort warp_mask block_reduce block_scan block_scan_api block_shuffle \
        block_radix_sort_keys block_merge_sort block_topk block_histogram block_run_length_decode grid_even_share \
        device_reduce device_reduce_by_key device_segmented_reduce device_scan device_scan_by_key \
        device_histogram device_radix_sort_keys device_merge_sort device_topk_keys device_select_if \
        device_partition_if device_run_length_encode device_adjacent_difference_substract_left device_for
}
# What all files share, compiled once.
cub_shared() {
    shared=$folder/results/cub.shared
    mkdir -p "$shared/catch2" && touch "$shared/catch2/catch_user_config.hpp"
    set -- -std=c++17 -w -arch=sm_90 -O1 -DCATCH_CONFIG_PREFIX_ALL -DCATCH_AMALGAMATED_CUSTOM_MAIN -DC2H_HAS_CURAND=0 --extended-lambda \
        --expt-relaxed-constexpr -I "$shared" -I "$folder/cccl/c2h/include" -I "$folder/cccl/cub" \
        -I "$folder/cccl/thrust" -I "$folder/cccl/libcudacxx/include" -I "$folder/catch2/src"
    printf '%s\n' "$@" >"$shared/flags"
    [ -f "$shared/shared.a" ] && return
    for source in "$folder"/cccl/c2h/*.cu "$folder/catch2/extras/catch_amalgamated.cpp"; do
        object=$shared/$(basename "$source").o
        if [ ! -f "$object" ]; then printf '%s\n%s\n' "$object" "$source"; fi
    done | xargs -P "${JOBS:-2}" -n 2 nvcc "$@" -c -o || exit 1
    ar rc "$shared/shared.a" "$shared"/*.o
}
cub_run() {
    source=$folder/cccl/cub/test/catch2_test_$1.cu shared=$folder/results/cub.shared
    set -- "$1"
    for value in $(sed -n 's,^// *%PARAM% \([A-Z_]*\) [a-z_]* \([^:]*\).*,-D\1=\2,p' "$source"); do
        set -- "$@" "$value"
    done
    name=$1
    shift
    if ! xargs -a "$shared/flags" nvcc "$@" -o "$results.program" "$source" "$shared/shared.a" -lcuda \
        >"$results.out" 2>&1; then
        printf 'skipped\t%s\tnvcc does not build it\n' "$name" >"$results.tsv" && return
    fi
    under "$results.program" --list-tests --verbosity quiet --out "$results.list"
    sed "s/^ *//; s/^/listed\t/; s/\$/\t/; s/\"/'/g" "$results.list" >"$results.tsv"
    under "$results.program" --reporter xml --out "$results.xml"
    sed 's/&quot;/\x27/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' "$results.xml" | awk '
        /<TestCase name="/ { name = $0; sub(/.*<TestCase name="/, "", name); sub(/".*/, "", name); why = "wrong value" }
        /<Exception / { getline why; sub(/^ */, "", why) }
        name && /<OverallResult / {
            result = /success="true"/ ? "passed" : why ~ /not supported/ ? "refused" : "failed"
            printf "%s\t%s\t%s\n", result, name, result == "passed" ? "" : substr(why, 1, 160)
            name = ""
        }' >>"$results.tsv"
    rm -f "$results.program"
}

if [ "${1-}" = --file ]; then
    folder=$2 suite=$3 file=$4
    results_folder=$folder/results/$suite results=$folder/results/$suite/$file
    [ -n "${RESUME-}" ] && [ -f "$results.seconds" ] && exit 0
    rm -f "$results".*
    began=$(date +%s)
    "$(echo "$suite" | tr - _)_run" "$file"
    echo $(($(date +%s) - began)) >"$results.seconds"
    exit 0
fi

give_up() {
    echo "redviz: suites.sh: $1" >&2
    exit 2
}
[ $# -ge 1 ] && [ -d "$1" ] || give_up "give the folder of the suites' sources: suites.sh FOLDER [SUITE...]"
[ -x "$redviz" ] || give_up "$redviz is not there: run make first"
folder=$(cd "$1" && pwd) && shift
[ $# -gt 0 ] || set -- numba-cuda cupy pycuda tinygrad zluda cuda-samples libcudacxx cub
for suite in "$@"; do
    name=$(echo "$suite" | tr - _)
    case $suite in
    numba-cuda | cupy | pycuda | tinygrad | zluda | cuda-samples | libcudacxx | cub) ;;
    *) give_up "no such suite: $suite" ;;
    esac
    is=$("${name}_revision")
    [ -n "$is" ] || { echo "redviz: $suite is not in $folder (see $0): left out" >&2 && continue; }
    mkdir -p "$folder/results/$suite" && echo "$is" >"$folder/results/$suite.revision"
    ("${name}_files") >"$folder/results/$suite.files"
    [ "$suite" != cub ] || cub_shared || give_up "nvcc does not build what CUB's tests share"
    grep -E "${ONLY:-.}" "$folder/results/$suite.files" |
        xargs -P "${JOBS:-2}" -I '{}' "$home/scripts/suites.sh" --file "$folder" "$suite" '{}'
done
mkdir -p "$home/assets/suites"
python3 "$home/scripts/suites_table.py" "$folder/results" >"$home/assets/suites/README.md" || exit 1
sed -n '/^|/p' "$home/assets/suites/README.md"
