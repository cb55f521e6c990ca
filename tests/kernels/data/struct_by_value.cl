// A struct with a hole after its first member: 24 bytes, as C lays it out.
typedef struct {
    char first;
    double scale;
    int shift;
} Settings;

__kernel void apply(Settings settings, __global double *out)
{
    out[0] = settings.first;
    out[1] = settings.scale;
    out[2] = settings.shift;
    out[3] = sizeof(Settings);
}
