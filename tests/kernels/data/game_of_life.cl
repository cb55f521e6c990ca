// One generation on a torus. `block` holds the group's cells and a ring of one around them.
__kernel void next_generation(__global const char *now, __global char *next, const unsigned int nx,
                              const unsigned int ny, __local char *block)
{
    const int lx = get_local_id(0);
    const int ly = get_local_id(1);
    const int width = get_local_size(0) + 2;
    const int height = get_local_size(1) + 2;
    const int originX = get_group_id(0) * get_local_size(0);
    const int originY = get_group_id(1) * get_local_size(1);

    for (int y = ly; y < height; y += get_local_size(1))
        for (int x = lx; x < width; x += get_local_size(0))
            block[y * width + x] = now[((originY + y - 1 + ny) % ny) * nx + (originX + x - 1 + nx) % nx];
    barrier(CLK_LOCAL_MEM_FENCE);

    int neighbours = -block[(ly + 1) * width + lx + 1];
    for (int y = ly; y < ly + 3; ++y)
        for (int x = lx; x < lx + 3; ++x)
            neighbours += block[y * width + x];
    const char alive = block[(ly + 1) * width + lx + 1];
    next[get_global_id(1) * nx + get_global_id(0)] = neighbours == 3 || (alive && neighbours == 2);
}
