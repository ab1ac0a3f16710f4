#!/bin/sh
# Runs a command as on a machine without the CUDA toolkit: without_toolkit.sh COMMAND...
#
# Needs root (unshare -m). In a mount namespace of its own, empty file systems lie over the folders of the
# toolkit, and /dev/null, which cannot be executed, over its programs in PATH.
set -eu
[ "${REDVIZ_WITHOUT_TOOLKIT-}" = 1 ] || exec env REDVIZ_WITHOUT_TOOLKIT=1 unshare -m "$0" "$@"
mount --make-rprivate /
for folder in /usr/local/cuda /usr/local/cuda-* /opt/cuda /usr/lib/cuda /usr/lib/nvidia-cuda-toolkit; do
    [ ! -d "$folder" ] || [ -L "$folder" ] || mount -t tmpfs none "$folder"
done
for program in nvcc ptxas nvdisasm cuobjdump nvlink fatbinary; do
    while path=$(command -v "$program"); do mount --bind /dev/null "$path"; done
done
unset CUDA_HOME CUDA_PATH
exec "$@"
