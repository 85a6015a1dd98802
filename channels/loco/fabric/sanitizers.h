/* Whether a sanitizer watches this build: gcc says so by one name, clang by another. */
#ifndef LOCO_SANITIZERS_H
#define LOCO_SANITIZERS_H

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

#endif
