/*
 * Words that C and C++ spell differently. The library is written in C; programs in both languages
 * include its headers.
 */
#ifndef LOCO_LANGUAGE_H
#define LOCO_LANGUAGE_H

#ifdef __cplusplus

#include <atomic>

/* The headers' inline functions use these names of stdatomic.h, which C++ has only since C++23. */
using std::atomic_load_explicit;
using std::atomic_thread_fence;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_seq_cst;

#define LOCO_ATOMIC(type)     std::atomic<type>
#define LOCO_DECLARATIONS     extern "C" {
#define LOCO_DECLARATIONS_END }

#else

#include <stdatomic.h>

#define LOCO_ATOMIC(type) _Atomic(type)
#define LOCO_DECLARATIONS
#define LOCO_DECLARATIONS_END

#endif

#endif
