// reproducible: the exact sum, rounded once: the same bits for every grid, block, order of the input and GPU.
//
//   x = 1.2345678:  1.234|5678       window 0 holds multiples of 2^40 units, window 1 multiples of one unit
//                     |     |
//   sums of a lane:  sum[0] sum[1]   what an addition to one cuts off, the next one gets
//                     \____/
//   whole numbers: warp --> block --> letter --> the last block: carries, rounds to nearest even --> out[0]
//
// What it teaches: a sum depends on the order of its additions only through what they lose, and they need not
// lose anything. A window is a double that starts at 1.5 * 2^52 units: while it stays between 2^52 and 2^53 of them, its
// bits are a count of units. sum + x keeps what of x is whole units, x - (the new sum - the old) is what is left,
// exactly, for the next window. The last must leave nothing, and no sum may leave its range: both are seen
// afterwards, and if one failed, the same loads are added again with care: windows that fit them better, and
// what fits no window (1e30 beside 1e-30) as a whole number into `slots`, which span all exponents. The error is
// that of the last rounding, at most half a unit in the last place. As of any sum: NaN of a NaN or of
// infinities of both signs. The sum of zeros is +0.
//
// What it costs (H100, CUDA graphs, uniform values, beside cub::DeviceReduce::Sum and its sum of kind gpu_to_gpu,
// which gives the same bits everywhere, too): floats 79 % of the speed of CUB's default at 2^24 elements, 94 % at
// 2^26, 98 % at 2^28, where gpu_to_gpu has 55, 78 and 88 %; doubles 86, 96 and 99.5 %. Below that its end counts:
// 10 us for 2^20 floats, where CUB takes 4. 47 % where one in 64 is up to 2^90 times smaller than the others.
//
// Blocks are whole warps, at most LETTERS of them in a grid. catalog_plan_reproducible() in ladder_plans.c
// chooses them. kernels/fastest.cu explains the letters.
#include "vectors.cuh"

const int LOADS = 4;           // in flight in each thread
const int SLOT_BITS = 8;       // from one slot to the next
const int STEP = 5;            // slots from one window to the next: 40 bits, which leaves 2^12 additions
const int HEADROOM = 16;       // window 0 holds 2^16 times the largest element that it was chosen for
const int SLOTS = 272;         // 2^(8 * 272) units of 2^-1074: more than 2^32 of the largest doubles
const unsigned LETTERS = 2048; // as many blocks as a grid may have
const unsigned ALL = 0xffffffff;

__device__ unsigned long long slots[SLOTS];         // two's complement; slot s counts 2^(8 s) units
__device__ unsigned specials;                       // 1: an infinity, 2: a negative one, 4: a NaN
__device__ unsigned long long letters[LETTERS * 6]; // 0: not arrived

// A unit is the smallest number of the type, 2^lowest. Windows are chosen for slots up to `highest_slot`: a
// double has no room for higher ones, so that doubles beyond 2^1017 always go to the slots.
template <typename T>
struct Format;
template <>
struct Format<float> {
    static const int mantissa_bits = 24, most_exponent = 255, lowest = -149, windows = 2, highest_slot = 31;
    static const int slots = 48; // that it can reach
    __device__ static unsigned long long bits(float x) { return __float_as_uint(x); }
    __device__ static float round(unsigned long long leading) { return __ull2float_rn(leading); }
};
template <>
struct Format<double> {
    static const int mantissa_bits = 53, most_exponent = 2047, lowest = -1074, windows = 3,
                     highest_slot = 255;
    static const int slots = SLOTS;
    __device__ static unsigned long long bits(double x) { return __double_as_longlong(x); }
    __device__ static double round(unsigned long long leading) { return __ull2double_rn(leading); }
};

// In parts of less than 2^24, so that 2^39 of them do not fill a slot.
__device__ void put(int slot, long long count) {
    if (!count)
        return;
    atomicAdd(slots + slot, static_cast<unsigned long long>(count & 0xffffff));
    atomicAdd(slots + slot + 24 / SLOT_BITS, static_cast<unsigned long long>(count >> 24 & 0xffffff));
    atomicAdd(slots + slot + 48 / SLOT_BITS, static_cast<unsigned long long>(count >> 48)); // of either sign
}

template <typename T>
__device__ int exponent_of(T x) {
    return Format<T>::bits(x) >> (Format<T>::mantissa_bits - 1) & Format<T>::most_exponent;
}

// The power of two, in units, of the last bit that x has room for.
template <typename T>
__device__ int position_of(T x) {
    int exponent = exponent_of(x);
    return exponent > 0 ? exponent - 1 : 0;
}

// Of the largest finite element that the lanes of a warp have.
template <typename T>
__device__ int highest_position(typename VectorOf<T>::type v) {
    const T *x = &v.x;
    int highest = 0;
#pragma unroll
    for (int i = 0; i < int(sizeof v / sizeof(T)); i++)
        if (exponent_of(x[i]) < Format<T>::most_exponent)
            highest = max(highest, position_of(x[i]));
    return __reduce_max_sync(ALL, highest);
}

// Any x, into the slots.
template <typename T>
__device__ void put_element(T x) {
    const unsigned long long first = 1ull << (Format<T>::mantissa_bits - 1); // of the mantissa's bits
    int exponent = exponent_of(x), position = position_of(x);
    long long mantissa = Format<T>::bits(x) & (first - 1);
    if (exponent == Format<T>::most_exponent) {
        atomicOr(&specials, mantissa ? 4 : x > 0 ? 1 : 2);
        return;
    }
    if (exponent > 0)
        mantissa |= first;
    mantissa <<= position % SLOT_BITS;
    put(position / SLOT_BITS, x < 0 ? -mantissa : mantissa);
}

// Whole numbers of units: count i at `slot`, less STEP for each window. In halves, counts 2 w and 2 w + 1 are
// those of window w and of 2^32 times as much.
template <typename T, bool halves>
struct Part {
    static const int size = Format<T>::windows * (halves ? 2 : 1);
    long long count[size];
    int slot;
    bool deposited; // something is in the slots

    __device__ static int offset(int i) {
        return halves ? i % 2 * (32 / SLOT_BITS) - i / 2 * STEP : -i * STEP;
    }
    __device__ void clear() {
        slot = STEP * (Format<T>::windows - 1);
        deposited = false;
#pragma unroll
        for (int i = 0; i < size; i++)
            count[i] = 0;
    }
    __device__ bool holds_any() const {
        bool any = false;
#pragma unroll
        for (int i = 0; i < size; i++)
            any = any || count[i];
        return any;
    }
    __device__ void empty_into_slots() {
        deposited = deposited || holds_any();
#pragma unroll
        for (int i = 0; i < size; i++) {
            put(slot + offset(i), count[i]);
            count[i] = 0;
        }
    }
    // Lane 0 gets the sum of the lanes of the highest slot, the slots those of others.
    __device__ void fold_warp() {
        bool any = holds_any();
        int highest = __reduce_max_sync(ALL, any ? slot : STEP * (Format<T>::windows - 1));
        bool misfit = any && slot != highest;
        if (__any_sync(ALL, misfit)) // seldom: the code behind it is not even fetched
            if (misfit)
                empty_into_slots();
        slot = highest;
#pragma unroll
        for (unsigned other = 16; other > 0; other /= 2)
#pragma unroll
            for (int i = 0; i < size; i++)
                count[i] += __shfl_down_sync(ALL, count[i], other);
        deposited = __any_sync(ALL, deposited);
    }
    __device__ void fold_block() { // for thread 0
        __shared__ Part parts[32];
        unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        fold_warp();
        if (lane == 0)
            parts[warp] = *this;
        __syncthreads();
        if (warp > 0)
            return;
        if (lane < blockDim.x / 32)
            *this = parts[lane];
        else
            clear();
        fold_warp();
    }
    __device__ void add(Part other) {
        bool any = deposited || other.deposited;
        if (other.slot > slot) {
            Part lower = *this;
            *this = other;
            other = lower;
        }
        if (other.slot < slot && other.holds_any())
            other.empty_into_slots();
#pragma unroll
        for (int i = 0; i < size; i++)
            count[i] += other.count[i];
        deposited = any || other.deposited;
    }
};

// What the additions since some state of the windows may have done wrong.
struct Doubt {
    unsigned moved; // bits in which the upper half of sum[0] was different from that of the empty window
    bool cut;       // something was left of an element
};

// The sums of a lane. `slot` is that of window 0, the same in all lanes of a warp.
template <typename T>
struct Windows {
    static const int windows = Format<T>::windows;
    double sum[windows];
    int slot;
    bool deposited;

    // The upper 32 bits of 1.5 * 2^52 times what window w counts.
    __device__ int empty(int w) const {
        return (1023 + 52 + Format<T>::lowest + (slot - w * STEP) * SLOT_BITS) << 20 | 1 << 19;
    }
    __device__ void start(int at) {
        slot = at;
#pragma unroll
        for (int w = 0; w < windows; w++)
            sum[w] = __hiloint2double(empty(w), 0);
    }
    // Only an element that is too large for window 0 can make an addition inexact without leaving something:
    // it moves sum[0] out of its range.
    __device__ void add(double x, Doubt &doubt) {
#pragma unroll
        for (int w = 0; w < windows; w++) {
            double before = sum[w];
            sum[w] = before + x;
            double added = sum[w] - before;
            if (w == 0)
                doubt.moved |= __double2hiint(sum[0]) ^ empty(0);
            if (w + 1 < windows)
                x -= added;
            else
                doubt.cut = doubt.cut || x != added;
        }
    }
    __device__ void add(float4 v, Doubt &doubt) {
        add(v.x, doubt);
        add(v.y, doubt);
        add(v.z, doubt);
        add(v.w, doubt);
    }
    __device__ void add(double2 v, Doubt &doubt) {
        add(v.x, doubt);
        add(v.y, doubt);
    }
    // Some sum left its range: sign or exponent changed.
    __device__ bool left(Doubt doubt) const {
#pragma unroll
        for (int w = 1; w < windows; w++)
            doubt.moved |= __double2hiint(sum[w]) ^ empty(w);
        return doubt.moved >> 20;
    }
    __device__ Part<T, false> counts() const {
        Part<T, false> part;
#pragma unroll
        for (int w = 0; w < windows; w++)
            part.count[w] =
                __double_as_longlong(sum[w]) - __double_as_longlong(__hiloint2double(empty(w), 0));
        part.slot = slot;
        part.deposited = deposited;
        return part;
    }
    // The slot for windows in which an element at `position` fits.
    __device__ static int slot_for(int position) {
        const int range = 51; // bits that a window holds, beside the sign
        int above = position + Format<T>::mantissa_bits + HEADROOM - range;
        int least = STEP * (windows - 1), fitting = above > 0 ? (above + SLOT_BITS - 1) / SLOT_BITS : 0;
        return min(max(fitting, least), Format<T>::highest_slot);
    }
    // The warp moves its windows to where the largest of its elements, at `position`, fits.
    __device__ void move(int position, bool outgrown) {
        int fitting = slot_for(position);
        if (!outgrown && fitting + 24 / SLOT_BITS >= slot) // it is low enough
            return;
        Part<T, false> part = counts();
        if (__any_sync(ALL, part.holds_any())) {
            part.fold_warp();
            if (threadIdx.x % 32 == 0)
                part.empty_into_slots();
            deposited = __any_sync(ALL, part.deposited);
        }
        start(outgrown ? max(fitting, slot) : fitting);
    }
    // Called by whole warps.
    __device__ void add_carefully(typename VectorOf<T>::type v) {
        const int width = sizeof v / sizeof(T);
        Windows tried = *this;
        Doubt doubt = {0, false};
        tried.add(v, doubt);
        bool outgrown = tried.left(doubt);
        if (!__any_sync(ALL, outgrown || doubt.cut)) {
            *this = tried;
            return;
        }
        const T *x = &v.x;
        move(highest_position<T>(v), __any_sync(ALL, outgrown));
#pragma unroll
        for (int i = 0; i < width; i++) {
            tried = *this;
            doubt.moved = 0;
            doubt.cut = false;
            tried.add(x[i], doubt);
            if (tried.left(doubt) || doubt.cut) {
                put_element(x[i]);
                deposited = true;
            } else {
                *this = tried;
            }
        }
    }
};

union Letter {
    struct {
        unsigned mark; // never 0
        unsigned bits;
    };
    unsigned long long word;
};

const unsigned DEPOSITED = 1 << 16; // in a mark, beside 1 + slot

template <typename T>
__device__ void send(volatile unsigned long long *box, const Part<T, true> &part) {
    Letter letter;
    letter.mark = 1 + part.slot + (part.deposited ? DEPOSITED : 0);
    for (int i = 0; i < part.size; i++) {
        letter.bits = part.count[i];
        box[i] = letter.word;
    }
}

template <typename T>
__device__ Part<T, true> receive(volatile unsigned long long *box) {
    Part<T, true> part;
    Letter letter[part.size];
    bool all; // have arrived
    do {
        all = true;
        for (int i = 0; i < part.size; i++)
            letter[i].word = box[i];
        for (int i = 0; i < part.size; i++)
            all = all && letter[i].word;
    } while (!all);
    for (int i = 0; i < part.size; i++) {
        box[i] = 0;
        part.count[i] = i % 2 ? (long long)(int)letter[i].bits : (long long)letter[i].bits;
    }
    part.slot = letter[0].mark % DEPOSITED - 1;
    part.deposited = letter[0].mark >= DEPOSITED;
    return part;
}

template <typename T>
__device__ Part<T, true> in_halves(const Part<T, false> &whole) {
    Part<T, true> part;
    for (int w = 0; w < whole.size; w++) {
        part.count[2 * w] = whole.count[w] & 0xffffffff;
        part.count[2 * w + 1] = whole.count[w] >> 32;
    }
    part.slot = whole.slot;
    part.deposited = whole.deposited;
    return part;
}

__device__ double power_of_two(int exponent) { return __hiloint2double((1023 + exponent) << 20, 0); }

// The number whose digits, each any number of 2^(8 s) units, stand in digits[]; rounded.
template <typename T>
__device__ T round_once(long long *digits) {
    const int begin = 0, end = Format<T>::slots;
    long long carry = 0;
    for (int s = begin; s < end; s++) {
        carry += digits[s];
        digits[s] = carry & 255;
        carry >>= SLOT_BITS;
    }
    bool negative = carry < 0;
    if (negative) {
        carry = 1;
        for (int s = begin; s < end; s++) {
            carry += 255 - digits[s];
            digits[s] = carry & 255;
            carry >>= SLOT_BITS;
        }
    }
    int top = end - 1;
    while (top > begin && !digits[top])
        top--;
    unsigned long long leading = 0; // at least 57 bits; the last is also set if a bit after it is
    for (int s = top; s > top - 8; s--)
        leading = leading << SLOT_BITS | (s >= begin ? digits[s] : 0);
    for (int s = begin; s <= top - 8; s++)
        leading |= digits[s] != 0;
    // Only the conversion rounds. The product is exact, or infinite: a sum of units is no less than a unit.
    int exponent = (top - 7) * SLOT_BITS + Format<T>::lowest, half = exponent / 2;
    double value = Format<T>::round(leading);
    value = value * power_of_two(half) * power_of_two(exponent - half);
    return negative ? -value : value;
}

// The number that the counts are, rounded; its bits fit three words.
template <typename T>
__device__ T round_counts(const Part<T, true> &total) {
    unsigned long long words[3] = {0, 0, 0};
#pragma unroll
    for (int i = 0; i < total.size; i++) {
        const int shift = (total.offset(i) - total.offset(total.size - 2)) * SLOT_BITS, first = shift / 64,
                  bits = shift % 64;
        unsigned long long carry = 0;
#pragma unroll
        for (int w = first; w < 3; w++) {
            unsigned long long part = w == first       ? (unsigned long long)total.count[i] << bits
                                      : w == first + 1 ? total.count[i] >> 1 >> (63 - bits)
                                                       : total.count[i] >> 63;
            unsigned long long sum = words[w] + part, next = sum + carry;
            carry = (sum < part) + (next < sum);
            words[w] = next;
        }
    }
    bool negative = words[2] >> 63;
    unsigned long long carry = negative;
#pragma unroll
    for (int w = 0; w < 3 && negative; w++) {
        words[w] = ~words[w] + carry;
        carry = carry && !words[w];
    }
    int zeros = words[2] ? __clzll(words[2]) : words[1] ? 64 + __clzll(words[1]) : 128 + __clzll(words[0]);
    if (zeros >= 128)
        words[2] = words[0], words[1] = words[0] = 0;
    else if (zeros >= 64)
        words[2] = words[1], words[1] = words[0], words[0] = 0;
    int bits = zeros % 64;
    unsigned long long leading = words[2] << bits | words[1] >> 1 >> (63 - bits);
    leading |= (words[1] << bits | words[0]) != 0; // also set if a bit after it is
    // Only the conversion rounds. The product is exact, or infinite: a sum of units is no less than a unit.
    int exponent = (total.slot + total.offset(total.size - 2)) * SLOT_BITS + Format<T>::lowest + 128 - zeros;
    double value =
        Format<T>::round(leading) * power_of_two(exponent / 2) * power_of_two(exponent - exponent / 2);
    return negative ? -value : value;
}

template <typename T>
__global__ void __launch_bounds__(512, 2) reproducible(const T *in, T *out, unsigned n) {
    typedef typename VectorOf<T>::type Vector;
    __shared__ long long digits[Format<T>::slots];
    const unsigned width = sizeof(Vector) / sizeof(T);
    const Vector *vectors = reinterpret_cast<const Vector *>(in);
    unsigned tid = threadIdx.x, threads = blockDim.x, count = n / width;
    Windows<T> windows;
    windows.start(STEP * (Format<T>::windows - 1));
    windows.deposited = false;
    const unsigned begin = blockIdx.x * (threads * LOADS);
    for (unsigned first = begin; first < count; first += gridDim.x * (threads * LOADS)) {
        Vector part[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            unsigned i = first + k * threads + tid;
            part[k] = i < count ? vectors[i] : Vector();
        }
        if (first == begin) // the first loads choose the windows
            windows.start(Windows<T>::slot_for(highest_position<T>(part[0])));
        Windows<T> tried = windows;
        Doubt doubt = {0, false};
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            tried.add(part[k], doubt);
        if (!__any_sync(ALL, tried.left(doubt) || doubt.cut)) {
            windows = tried;
            continue;
        }
#pragma unroll 1
        for (int k = 0; k < LOADS; k++) {
            unsigned i = first + k * threads + tid;
            windows.add_carefully(i < count ? vectors[i] : Vector());
        }
    }
    if (n % width && blockIdx.x == 0 && tid < 32) { // less than a vector is left at the end
        Vector rest = Vector();
        if (tid < n % width)
            rest.x = in[count * width + tid];
        windows.add_carefully(rest);
    }

    Part<T, false> block = windows.counts();
    block.fold_block();
    Part<T, true> total;
    if (tid == 0)
        total = in_halves(block);
    else
        total.clear();
    if (blockIdx.x + 1 < gridDim.x) {
        if (tid < 32) {
            __syncwarp();
            if (tid == 0) {
                if (total.deposited)
                    __threadfence(); // the slots before the letter
                send<T>(letters + blockIdx.x * total.size, total);
            }
        }
        return;
    }
    for (unsigned b = tid; b + 1 < gridDim.x; b += threads)
        total.add(receive<T>(letters + b * total.size));
    if (total.deposited)
        __threadfence(); // the letter before the slots
    total.fold_block();
    if (!__syncthreads_or(tid == 0 && total.deposited)) {
        if (tid == 0)
            out[0] = round_counts<T>(total);
        return;
    }
    for (unsigned s = tid; s < Format<T>::slots; s += threads) {
        digits[s] = slots[s];
        slots[s] = 0;
    }
    __syncthreads();
    if (tid > 0)
        return;
    for (int i = 0; i < total.size; i++)
        digits[total.slot + total.offset(i)] += total.count[i];
    T sum = round_once<T>(digits);
    if (specials) {
        double infinity = __builtin_huge_val();
        sum = specials == 1 ? infinity : specials == 2 ? -infinity : infinity - infinity;
        specials = 0;
    }
    out[0] = sum;
}

template __global__ void reproducible<float>(const float *, float *, unsigned);
template __global__ void reproducible<double>(const double *, double *, unsigned);
