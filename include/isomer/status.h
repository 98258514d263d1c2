/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - statuses, and the full report of the last failure.
 *
 * Statuses are grouped by who must act.
 */
#ifndef ISOMER_STATUS_H
#define ISOMER_STATUS_H

#include <isomer/base.h>

ISO_BEGIN_DECLS

/* What a call returns. */
typedef enum iso_status {
    ISO_OK = 0, /* it was done, or accepted by its stream */

    /* The caller: the call was wrong and would be wrong again. Nothing was done. */
    ISO_INVALID = 1,   /* an argument broke a rule; the text names it, its value and the rule */
    ISO_MISMATCH = 2,  /* each argument is right but they belong to different devices */
    ISO_NOT_READY = 3, /* queried work has not finished, or has not been submitted */

    /* The environment: the call was right, but this machine cannot do it now. Nothing was done. */
    ISO_UNAVAILABLE = 4, /* the backend or device is not there; the text says what was tried */
    ISO_UNSUPPORTED = 5, /* the device does not support this operation, as iso_supports says */
    ISO_NO_MEMORY = 6,   /* memory ran out, or the memory limit would be exceeded */
    ISO_COMPILE = 7,     /* a device kernel did not build; the text holds the compiler's log */
    ISO_TIMEOUT = 8,     /* the time limit ran out; the work continues */

    /* The vendor's software or hardware. */
    ISO_BACKEND = 9,      /* a vendor call failed; the text names the call and its code */
    ISO_DEVICE_LOST = 10, /* the device is gone; destroy its handles and open it again */

    /* isomer. */
    ISO_INTERNAL = 11 /* a fault in isomer or in a plug-in; please report it */
} iso_status;

/* The name of a status without its prefix ("INVALID"); "UNKNOWN" for any other value. Static. */
ISO_API const char *iso_status_name(iso_status status);

/*
 * The report of the last call that failed on this thread: the operation, the argument and its
 * value, the rule that it broke or the vendor call and its code by name, and what to do. "" if none
 * failed. Owned by the thread and overwritten by its next failure; a call that succeeds does not
 * change it. It is safe to print: control characters in a driver's text or in a path are escaped
 * ("\x1b"), and each line after the first begins with a space. The same holds for messages of
 * ISOMER_LOG.
 */
ISO_API const char *iso_last_error(void);

/* The status of the last call that failed on this thread; ISO_OK if none has. */
ISO_API iso_status iso_last_status(void);

/* Forgets the last failure of this thread. */
ISO_API void iso_clear_error(void);

ISO_END_DECLS

#endif
