/* NCCL: NVIDIA's library of collective operations among GPUs, opened at run time ("NCCL API"; the numbers
 * below are those of nccl.h 2.28, unchanged since 2.0). If it is not installed, one line says so, and
 * everything else works. */
#ifndef GPU_NCCL_H
#define GPU_NCCL_H

#include "gpu/driver.h"

enum { GPU_MOST = 64 }; /* GPUs of one host */

typedef enum NcclType { NCCL_INT = 2, NCCL_FLOAT = 7, NCCL_DOUBLE = 8 } NcclType;
typedef enum NcclOp { NCCL_SUM = 0, NCCL_MAX = 2, NCCL_MIN = 3 } NcclOp;
typedef struct NcclCommTag *NcclComm;

typedef struct Nccl {
    void *library;
    int (*ncclGetVersion)(int *version);
    const char *(*ncclGetErrorString)(int result);
    int (*ncclCommInitAll)(NcclComm *comms, int count, const int *devices);
    int (*ncclCommDestroy)(NcclComm comm);
    int (*ncclGroupStart)(void);
    int (*ncclGroupEnd)(void);
    int (*ncclAllReduce)(const void *from, void *to, size_t count, int type, int op, NcclComm comm,
                         CudaStream stream);
    NcclComm comms[GPU_MOST]; /* one per GPU */
    int count;
    int version; /* 22803: 2.28.3 */
} Nccl;

/* Opens libnccl.so.2 ($REDVIZ_NCCL overrides it) and joins the GPUs. False with `error`; nccl_close() is
 * still allowed. */
bool nccl_open(Nccl *nccl, Cuda *const *gpus, int count, Error *error);
void nccl_close(Nccl *nccl);
/* Enqueues in each GPU's stream an all-reduce of one element, from[gpu] to to[gpu]. */
bool nccl_all_reduce(const Nccl *nccl, Cuda *const *gpus, const CudaAddress *from, const CudaAddress *to,
                     NcclType type, NcclOp op, Error *error);

#endif
