/* Stands for headers of the C and C++ standard libraries where a compiler has none for device code (NVRTC,
 * clang): fixed-width types, limits, and what <cassert>, <cstddef> and <cmath> define as macros. */
#ifndef REDVIZ_STANDARD_H
#define REDVIZ_STANDARD_H

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
#ifdef __CUDACC_RTC__ /* as in the toolkit's headers, where they may follow */
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
#else
typedef long int64_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
#endif
typedef long ptrdiff_t;
typedef unsigned long size_t;

namespace std {
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::intptr_t;
using ::ptrdiff_t;
using ::size_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
} // namespace std

#define CHAR_BIT   8
#define SCHAR_MIN  (-128)
#define SCHAR_MAX  127
#define UCHAR_MAX  255
#define SHRT_MIN   (-32768)
#define SHRT_MAX   32767
#define USHRT_MAX  65535
#define INT_MAX    2147483647
#define INT_MIN    (-INT_MAX - 1)
#define UINT_MAX   4294967295u
#define LONG_MAX   9223372036854775807l
#define LONG_MIN   (-LONG_MAX - 1)
#define ULONG_MAX  18446744073709551615ul
#define LLONG_MAX  9223372036854775807ll
#define LLONG_MIN  (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ull

#define INT8_MIN   SCHAR_MIN
#define INT8_MAX   SCHAR_MAX
#define UINT8_MAX  UCHAR_MAX
#define INT16_MIN  SHRT_MIN
#define INT16_MAX  SHRT_MAX
#define UINT16_MAX USHRT_MAX
#define INT32_MIN  INT_MIN
#define INT32_MAX  INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN  LONG_MIN
#define INT64_MAX  LONG_MAX
#define UINT64_MAX ULONG_MAX
#define SIZE_MAX   ULONG_MAX

#define FLT_RADIX    2
#define FLT_MANT_DIG 24
#define FLT_EPSILON  1.1920928955078125e-7f
#define FLT_MIN      1.17549435082228750797e-38f
#define FLT_MAX      3.40282346638528859812e+38f
#define DBL_MANT_DIG 53
#define DBL_EPSILON  2.2204460492503130808e-16
#define DBL_MIN      2.2250738585072013831e-308
#define DBL_MAX      1.7976931348623157081e+308

#define M_PI 3.14159265358979323846
#define M_E  2.71828182845904523536
#ifdef __CUDACC_RTC__ /* has no such built-in functions */
#define __builtin_huge_valf() __int_as_float(0x7f800000)
#define __builtin_huge_val()  __longlong_as_double(0x7ff0000000000000ll)
#endif
#ifndef INFINITY
#define INFINITY __builtin_inff()
#endif
#ifndef NAN
#define NAN __builtin_nanf("")
#endif
#ifndef NULL
#define NULL 0
#endif

#ifdef NDEBUG
#define assert(condition) ((void)0)
#elif !defined(assert)
#define assert(condition) ((condition) ? (void)0 : __trap())
#endif

#endif
