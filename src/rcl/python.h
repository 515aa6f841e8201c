/* The interpreter lock of Python, if the process has Python: nothing of it is linked. rclpy's jump
 * callbacks use Python objects and do not take the lock themselves, because rclpy calls them on
 * threads that hold it. */
#ifndef TB_RCL_PYTHON_H
#define TB_RCL_PYTHON_H

#include <stdbool.h>

/* Whether a callback at this address may use Python without taking the lock. Remembers where the
 * process has Python. Not so for librcl and the libraries of C++ nodes. [any thread] */
bool tb__python_is_used_by(void (*function)(void));

/* True: Python ends, or has ended. What uses it must not be called any more, and a thread that
 * asks for its lock does not come back. */
bool tb__python_has_ended(void);

/* Takes the lock for this thread. False: Python ends, and the lock was not taken. */
bool tb__python_lock(int *out_state);
/* Reports an error that was left set, and releases the lock. */
void tb__python_unlock(int state);

/* Around a wait for other threads, which may need the lock: releases it if this thread holds it.
 * The result is for tb__python_resume, NULL if there is nothing to take again. */
void *tb__python_suspend(void);
void tb__python_resume(void *thread_state);

#endif
