/* Timing with events and graphs (timing.h). */
#include "gpu/timing.h"

enum { WARM_UPS = 3, LEAST_SAMPLES = 5, BUSY_BYTES = 16 << 20 };
enum { CAPTURE_THREAD_LOCAL = 1 };
static const double PATIENCE_SECONDS = 20, LONG_SECONDS = 0.05;

bool timer_new(Timer *timer, Cuda *cuda, Error *error) {
    *timer =
        (Timer){.cuda = cuda, .flush_bytes = 2 * (size_t)(cuda->l2_bytes > 0 ? cuda->l2_bytes : 64 << 20)};
    return cuda_allocate(cuda, timer->flush_bytes, &timer->flush, error) &&
           CUDA_CALL(cuda, error, cuEventCreate, &timer->start, 0) &&
           CUDA_CALL(cuda, error, cuEventCreate, &timer->end, 0);
}

void timer_free(Timer *timer) {
    if (timer->cuda && !timer->cuda->hung) {
        if (timer->start) timer->cuda->table.cuEventDestroy(timer->start);
        if (timer->end) timer->cuda->table.cuEventDestroy(timer->end);
        if (timer->flush) timer->cuda->table.cuMemFree(timer->flush);
    }
    *timer = (Timer){0};
}

static bool overwrite_l2(Timer *timer, size_t bytes, Error *error) {
    return CUDA_CALL(timer->cuda, error, cuMemsetD8Async, timer->flush, 0, bytes, timer->cuda->stream);
}

bool time_once(Timer *timer, bool warm, bool (*enqueue)(void *context, Error *error), void *context,
               const char *what, double *microseconds, Error *error) {
    Cuda *cuda = timer->cuda;
    size_t bytes = warm && timer->flush_bytes > BUSY_BYTES ? BUSY_BYTES : timer->flush_bytes;
    float milliseconds = 0;
    bool good = overwrite_l2(timer, bytes, error) &&
                CUDA_CALL(cuda, error, cuEventRecord, timer->start, cuda->stream) &&
                enqueue(context, error) && CUDA_CALL(cuda, error, cuEventRecord, timer->end, cuda->stream) &&
                cuda_wait(cuda, PATIENCE_SECONDS, what, error) &&
                CUDA_CALL(cuda, error, cuEventElapsedTime, &milliseconds, timer->start, timer->end);
    *microseconds = (double)milliseconds * 1e3;
    return good;
}

typedef struct Sample { /* the work between two events */
    const TimingPlan *plan;
    CudaGraphExec graph; /* NULL: one repetition */
    int set;
} Sample;

static bool take_sample(Timer *timer, const Sample *sample, bool cold, double *microseconds, Error *error) {
    Cuda *cuda = timer->cuda;
    const TimingPlan *plan = sample->plan;
    float milliseconds = 0;
    if (cold && !overwrite_l2(timer, timer->flush_bytes, error)) return false;
    if (!CUDA_CALL(cuda, error, cuEventRecord, timer->start, cuda->stream)) return false;
    if (sample->graph ? !CUDA_CALL(cuda, error, cuGraphLaunch, sample->graph, cuda->stream)
                      : !plan->work(plan->context, sample->set, error))
        return false;
    if (!CUDA_CALL(cuda, error, cuEventRecord, timer->end, cuda->stream) ||
        !cuda_wait(cuda, PATIENCE_SECONDS, "timing", error) ||
        !CUDA_CALL(cuda, error, cuEventElapsedTime, &milliseconds, timer->start, timer->end))
        return false;
    *microseconds = (double)milliseconds * 1e3 / (sample->graph ? plan->repetitions : 1);
    return true;
}

static bool take_samples_in_turn(Timer *timer, Sample *sample, bool cold, Spread *out, Error *error) {
    Samples samples;
    double microseconds = 0, most = LONG_SECONDS * 1e6 / (sample->graph ? sample->plan->repetitions : 1);
    for (int i = 0; i < WARM_UPS && microseconds < most; i++)
        if (!take_sample(timer, sample, cold, &microseconds, error)) return false;
    samples_begin(&samples, LEAST_SAMPLES, sample->plan->seconds);
    if (microseconds >= most) samples_add(&samples, microseconds);
    while (microseconds < most && samples_wanted(&samples)) {
        sample->set = cold ? (sample->set + 1) % sample->plan->sets : 0;
        if (!take_sample(timer, sample, cold, &microseconds, error)) return false;
        samples_add(&samples, microseconds);
    }
    *out = samples_spread(&samples);
    return true;
}

static bool take_samples(Timer *timer, Sample *sample, bool cold, Spread *out, Error *error) {
    cuda_turn_begin();
    bool good = take_samples_in_turn(timer, sample, cold, out, error);
    cuda_turn_end();
    return good;
}

bool time_single(Timer *timer, const TimingPlan *plan, bool cold, Spread *out, Error *error) {
    Sample sample = {.plan = plan};
    return take_samples(timer, &sample, cold, out, error);
}

static bool make_graph(Timer *timer, const TimingPlan *plan, bool cold, CudaGraphExec *executable,
                       Error *error) {
    Cuda *cuda = timer->cuda;
    CudaGraph graph = NULL;
    if (!CUDA_CALL(cuda, error, cuStreamBeginCapture, cuda->stream, CAPTURE_THREAD_LOCAL)) return false;
    bool good = true;
    for (int i = 0; good && i < plan->repetitions; i++)
        good = plan->work(plan->context, cold ? i % plan->sets : 0, error);
    /* even after an error */
    good &= CUDA_CALL(cuda, good ? error : NULL, cuStreamEndCapture, cuda->stream, &graph);
    good = good && CUDA_CALL(cuda, error, cuGraphInstantiateWithFlags, executable, graph, 0);
    if (graph) cuda->table.cuGraphDestroy(graph);
    return good;
}

bool time_graph(Timer *timer, const TimingPlan *plan, bool cold, Spread *out, Error *error) {
    Sample sample = {.plan = plan};
    if (!make_graph(timer, plan, cold, &sample.graph, error)) return false;
    bool good = take_samples(timer, &sample, cold, out, error);
    if (!timer->cuda->hung) timer->cuda->table.cuGraphExecDestroy(sample.graph);
    return good;
}
