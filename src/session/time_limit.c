/* Time limits of searches, in processor time (hazards.h). */
#include "session/hazards.h"

TimeLimit session_limit_time(double seconds, double usual) {
    TimeLimit limit = {.seconds = seconds > 0 ? seconds : usual};
    limit.end = clock() + (clock_t)(limit.seconds * (double)CLOCKS_PER_SEC);
    return limit;
}

bool session_time_is_over(const TimeLimit *limit) {
    return clock() >= limit->end;
}
