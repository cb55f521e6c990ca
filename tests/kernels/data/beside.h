#define BESIDE 40
