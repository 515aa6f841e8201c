/* Symbol visibility of the public API, and the C++ linkage guard. */
#ifndef TIMEBASE_EXPORT_H
#define TIMEBASE_EXPORT_H

#if defined(__GNUC__)
#define TB_API           __attribute__((visibility("default")))
#define TB_WARN_UNUSED   __attribute__((warn_unused_result))
#define TB_PRINTF(f, a)  __attribute__((format(printf, f, a)))
#else
#define TB_API
#define TB_WARN_UNUSED
#define TB_PRINTF(f, a)
#endif

#ifdef __cplusplus
#define TB_BEGIN_DECLS extern "C" {
#define TB_END_DECLS   }
#else
#define TB_BEGIN_DECLS
#define TB_END_DECLS
#endif

#endif
