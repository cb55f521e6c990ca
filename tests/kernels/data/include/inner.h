#include "../beside.h"
int inner(int i) { return i + BESIDE / 20; }
