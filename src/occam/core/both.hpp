// Marks functions that are compiled for the host and for GPUs alike.
#pragma once

#ifdef __CUDACC__
#define OCCAM_BOTH __host__ __device__
#else
#define OCCAM_BOTH
#endif
