/* Which library this is. */
#ifndef ZARIZ_CRYPTO_MB_VERSION_H
#define ZARIZ_CRYPTO_MB_VERSION_H

#include <crypto_mb/defs.h>

#define MBX_LIB_NAME() "zariz"

/* The version of crypto_mb whose interface this is. */
#define MBX_VER_MAJOR 1
#define MBX_VER_MINOR 1
#define MBX_VER_PATCH 0
#define MBX_INTERFACE_VERSION_MAJOR 12
#define MBX_INTERFACE_VERSION_MINOR 1

typedef struct {
    int major;
    int minor;
    int patch;
    char targetCpu[4];      /* "any" */
    const char *name;       /* "zariz" */
    const char *buildDate;  /* empty */
    const char *strVersion; /* zariz's version, and that of the interface */
} mbxVersion;

MBX_EXTERN_C const mbxVersion *mbx_getversion(void);

#endif
