/* A linked list whose nodes lie in device memory and point to each other: the host writes device addresses into nodes. */
#include <cstdio>

struct Node {
    int value;
    Node *next;
};

__global__ void sum_list(const Node *first, int *sum) {
    int total = 0;
    for (const Node *node = first; node; node = node->next) total += node->value;
    *sum = total;
}

int main() {
    Node *next = nullptr;
    int *d_sum, sum = 0, expected = 0;
    for (int i = 1; i <= 20; i++) {
        Node node = {i * i, next};
        cudaMalloc(&next, sizeof(Node));
        cudaMemcpy(next, &node, sizeof node, cudaMemcpyHostToDevice);
        expected += i * i;
    }
    cudaMalloc(&d_sum, sizeof(int));
    sum_list<<<1, 1>>>(next, d_sum);
    cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
    printf("%s: %d\n", sum == expected ? "PASSED" : "FAILED", sum);
    return sum != expected;
}
