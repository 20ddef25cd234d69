/*
 * Statuses. A call returns one for each of its eight lanes, in four bits: the lowest four are lane 0's.
 */
#ifndef ZARIZ_CRYPTO_MB_STATUS_H
#define ZARIZ_CRYPTO_MB_STATUS_H

#include <crypto_mb/defs.h>

typedef int32u mbx_status;

/* The lane has its result. In all other cases, its output was not touched. */
#define MBX_STATUS_OK 0
/* A size, method or number is wrong: the numbers do not form a key, or a message is not below the modulus. */
#define MBX_STATUS_MISMATCH_PARAM_ERR 1
/* A pointer is null. */
#define MBX_STATUS_NULL_PARAM_ERR 2
/* Not used by these functions. */
#define MBX_STATUS_LOW_ORDER_ERR 4
/* The result failed its check and is withheld, or the system gave no random numbers. */
#define MBX_STATUS_SIGNATURE_ERR 8
/* OpenSSL's functions for BIGNUM are not in this process. */
#define MBX_STATUS_UNSUPPORTED_ISA_ERR 10

/* The status of a lane. */
static inline mbx_status MBX_GET_STS(mbx_status status, int lane)
{
    return (status >> (4 * (lane & 7))) & 0xfu;
}

/* The statuses of all lanes, after that of one lane is changed. */
static inline mbx_status MBX_SET_STS(mbx_status status, int lane, mbx_status value)
{
    const int shift = 4 * (lane & 7);
    return (status & ~(0xfu << shift)) | ((value & 0xfu) << shift);
}

/* One status for all lanes. */
static inline mbx_status MBX_SET_STS_ALL(mbx_status value)
{
    return 0x11111111u * (value & 0xfu);
}

/* A status for each lane whose bit is set in the mask, and MBX_STATUS_OK for the others. */
static inline mbx_status MBX_SET_STS_BY_MASK(mbx_status status, int8u mask, mbx_status value)
{
    int lane;
    for (lane = 0; lane < 8; lane++)
        status = MBX_SET_STS(status, lane, (mask >> lane) & 1 ? value : MBX_STATUS_OK);
    return status;
}

/* Whether a lane has its result: of the first four, the last four, and all. */
static inline int MBX_IS_ANY_0_TO_3_OK_STS(mbx_status status)
{
    int lane;
    for (lane = 0; lane < 4; lane++)
        if (MBX_GET_STS(status, lane) == MBX_STATUS_OK)
            return 1;
    return 0;
}

static inline int MBX_IS_ANY_4_TO_7_OK_STS(mbx_status status)
{
    return MBX_IS_ANY_0_TO_3_OK_STS(status >> 16);
}

static inline int MBX_IS_ANY_OK_STS(mbx_status status)
{
    return MBX_IS_ANY_0_TO_3_OK_STS(status) || MBX_IS_ANY_4_TO_7_OK_STS(status);
}

#endif
