/* A program whose host function is called: its macros have the names of buffers and of template parameters. */
#define T           32
#define in          7
#define out         in
#define argv        in
#define Number      in
#define NULL_NUMBER 0

__global__ void add_up(const int *values, unsigned long long *sum, int count) {
    unsigned long long own = NULL_NUMBER;
    for (int i = threadIdx.x; i < count; i += T) own += values[i];
    for (int step = T / 2; step > 0; step /= 2) own += __shfl_down_sync(~0u, own, step);
    if (threadIdx.x == 0) *sum = own;
}

void solve(const int *values, unsigned long long *sum, int count) {
    add_up<<<1, T>>>(values, sum, count);
}

void solve_wrongly(const int *values, unsigned long long *sum, int rows) {
    add_up<<<1, T>>>(values, sum, rows);
}

int main(int count, char *words[]) {
    return count + words[0][0];
}
