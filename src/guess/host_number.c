#include "guess/host_number.h"

#include <math.h>
#include <string.h>

const HostNumber host_unknown = {0};

HostNumber host_number(int64_t integer) {
    return (HostNumber){true, false, false, integer, (double)integer};
}

HostNumber host_float(double number) {
    return (HostNumber){true, true, false, 0, number};
}

HostNumber host_to_integer(HostNumber value) {
    if (!value.is_known || !value.is_float) return value;
    if (!(fabs(value.number) < 9e18)) return host_unknown;
    HostNumber result = host_number((int64_t)value.number);
    result.is_free = value.is_free;
    return result;
}

HostNumber host_apply(int operator, HostNumber a, HostNumber b) {
    HostNumber result = host_unknown;
    if (!a.is_known || !b.is_known) return host_unknown;
    if (a.is_float || b.is_float) {
        double x = a.number, y = b.number;
        switch (operator) {
        case '+':
            result = host_float(x + y);
            break;
        case '-':
            result = host_float(x - y);
            break;
        case '*':
            result = host_float(x * y);
            break;
        case '/':
            result = host_float(x / y);
            break;
        case '<':
            result = host_number(x < y);
            break;
        case '>':
            result = host_number(x > y);
            break;
        default:
            return host_unknown;
        }
    } else {
        int64_t x = a.integer, y = b.integer, z = 0;
        bool bad = false;
        switch (operator) {
        case '+':
            bad = __builtin_add_overflow(x, y, &z);
            break;
        case '-':
            bad = __builtin_sub_overflow(x, y, &z);
            break;
        case '*':
            bad = __builtin_mul_overflow(x, y, &z);
            break;
        case '/':
            bad = !y || (x == INT64_MIN && y == -1);
            z = bad ? 0 : x / y;
            break;
        case '%':
            bad = !y || (x == INT64_MIN && y == -1);
            z = bad ? 0 : x % y;
            break;
        case 'l':
            bad = x < 0 || y < 0 || y > 62 || x > INT64_MAX >> y;
            z = bad ? 0 : x << y;
            break;
        case 'r':
            bad = y < 0 || y > 63;
            z = bad ? 0 : x >> y;
            break;
        case '<':
            z = x < y;
            break;
        case '>':
            z = x > y;
            break;
        case '{':
            z = x <= y;
            break;
        case '}':
            z = x >= y;
            break;
        case '=':
            z = x == y;
            break;
        case '!':
            z = x != y;
            break;
        case '&':
            z = x & y;
            break;
        case '|':
            z = x | y;
            break;
        case '^':
            z = x ^ y;
            break;
        case 'a':
            z = x && y;
            break;
        case 'o':
            z = x || y;
            break;
        default:
            bad = true;
        }
        if (bad) return host_unknown;
        result = host_number(z);
    }
    result.is_free = a.is_free || b.is_free;
    return result;
}

HostNumber host_apply_function(const char *name, size_t length, const HostNumber *given, int count,
                               bool *is_known) {
    static const char *const names[] = {"min",      "max",   "ceil", "ceilf",    "floor",  "floorf", "round",
                                        "sqrt",     "sqrtf", "log2", "log2f",    "pow",    "powf",   "abs",
                                        "exp2",     "fmin",  "fmax", "int",      "float",  "double", "size_t",
                                        "unsigned", "uint",  "long", "uint32_t", "int64_t"};
    int which = -1;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strlen(names[i]) == length && !memcmp(names[i], name, length)) which = i;
    *is_known = which >= 0;
    bool is_min = which == 0 || which == 15;
    if (is_min && count > 1 && !given[0].is_known) return given[1];
    if (which < 0 || count < 1 || !given[0].is_known) return host_unknown;
    HostNumber a = given[0], b = count > 1 ? given[1] : host_unknown, result;
    double x = a.number;
    switch (which) {
    case 0:
    case 15:
        return !b.is_known    ? (count > 1 ? a : host_unknown)
               : b.number < x ? b
                              : a; /* min(blocks, a limit of the GPU) */
    case 1:
    case 16:
        return !b.is_known ? host_unknown : b.number > x ? b : a;
    case 2:
    case 3:
        result = host_float(ceil(x));
        break;
    case 4:
    case 5:
        result = host_float(floor(x));
        break;
    case 6:
        result = host_float(round(x));
        break;
    case 7:
    case 8:
        result = host_float(sqrt(x));
        break;
    case 9:
    case 10:
        result = host_float(log2(x));
        break;
    case 11:
    case 12:
        if (!b.is_known) return host_unknown;
        result = host_float(pow(x, b.number));
        break;
    case 13:
        result = a.is_float ? host_float(fabs(x)) : host_number(a.integer < 0 ? -a.integer : a.integer);
        break;
    case 14:
        result = host_float(exp2(x));
        break;
    case 18:
    case 19:
        result = host_float(x);
        break;
    default:
        result = host_to_integer(a);
    }
    result.is_free |= a.is_free;
    return result;
}
