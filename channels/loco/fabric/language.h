/*
 * Words that C and C++ spell differently. The library is written in C; programs in both languages
 * include its headers.
 */
#ifndef LOCO_LANGUAGE_H
#define LOCO_LANGUAGE_H

/* Whether a sanitizer watches this build: gcc says so by one name, clang by another. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define LOCO_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define LOCO_TSAN 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
#define LOCO_ASAN 1
#endif
#ifdef __SANITIZE_THREAD__
#define LOCO_TSAN 1
#endif

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
