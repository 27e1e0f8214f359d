/* A library that has a name and nothing else, see CMakeLists.txt. */
typedef int dagi_cuda_nothing;
