/* For code that threads of Cyclone DDS may run at any time. */
#ifndef TB_DDS_STAY_LOADED_H
#define TB_DDS_STAY_LOADED_H

/* [any thread, but none of DDS, and with no lock held: it waits for the dynamic linker, which may
 * be waiting for DDS in the destructor of another library] From now on the library stays loaded. */
void tb__stay_loaded(void);

#endif
