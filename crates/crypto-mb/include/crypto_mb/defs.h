/* Types of crypto_mb's interface, as zariz has it. */
#ifndef ZARIZ_CRYPTO_MB_DEFS_H
#define ZARIZ_CRYPTO_MB_DEFS_H

#ifdef __cplusplus
#define MBX_EXTERN_C extern "C"
#else
#define MBX_EXTERN_C
#endif

typedef unsigned char int8u;
typedef unsigned short int16u;
typedef unsigned int int32u;
typedef unsigned long long int64u;

#endif
