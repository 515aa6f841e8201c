/* Symbol visibility of the public API, and the C++ linkage guard. */
#ifndef TIMEBASE_EXPORT_H
#define TIMEBASE_EXPORT_H

#if defined(__GNUC__)
/** Marks of functions: exported, result to be used, arguments as printf has them. */
#define TB_API          __attribute__((visibility("default")))
#define TB_WARN_UNUSED  __attribute__((warn_unused_result))
#define TB_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define TB_API
#define TB_WARN_UNUSED
#define TB_PRINTF(f, a)
#endif

#if defined(__has_attribute)
#if __has_attribute(noplt)
/** For calls of a few nanoseconds: straight through the table of addresses, without the stub of the
 * lazy binder. */
#define TB_HOT_API TB_API __attribute__((noplt))
#endif
#endif
#ifndef TB_HOT_API
#define TB_HOT_API TB_API
#endif

#ifdef __cplusplus
/** Internal: a value of a struct, for initialisers and arguments, also of macros. */
#define TB_VALUE(type, ...) (type{__VA_ARGS__})
/** Internal: a conversion. */
#define TB_CAST(type, value) (static_cast<type>(value))
/** Around declarations, which have C linkage in C++ too. */
#define TB_BEGIN_DECLS extern "C" {
#define TB_END_DECLS   }
#else
#define TB_VALUE(type, ...)  ((type){__VA_ARGS__})
#define TB_CAST(type, value) ((type)(value))
#define TB_BEGIN_DECLS
#define TB_END_DECLS
#endif

/** Marks of functions that are compiled into the program. They are no symbols of it, in C++
 * neither: two libraries of a process may have been compiled with headers of different versions. */
#define TB_INLINE static inline

#endif
