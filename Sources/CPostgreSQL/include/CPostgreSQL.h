#pragma once

// The functions of libpq, looked up when they are first needed: nothing links the library, so that a program starts on a
// machine without it. Their types are the header's own.

#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#define SIGNET_HAS_LIBPQ 1
#elif __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#define SIGNET_HAS_LIBPQ 1
#endif

#ifdef SIGNET_HAS_LIBPQ

#define SIGNET_LIBPQ_FUNCTIONS(ONE) \
    ONE(PQconninfoParse)            \
    ONE(PQconninfoFree)             \
    ONE(PQfreemem)                  \
    ONE(PQisthreadsafe)             \
    ONE(PQconnectStartParams)       \
    ONE(PQconnectPoll)              \
    ONE(PQsetErrorVerbosity)        \
    ONE(PQsetNoticeProcessor)       \
    ONE(PQsetnonblocking)           \
    ONE(PQstatus)                   \
    ONE(PQtransactionStatus)        \
    ONE(PQsocket)                   \
    ONE(PQerrorMessage)             \
    ONE(PQfinish)                   \
    ONE(PQsendQuery)                \
    ONE(PQsendPrepare)              \
    ONE(PQsendQueryPrepared)        \
    ONE(PQflush)                    \
    ONE(PQconsumeInput)             \
    ONE(PQisBusy)                   \
    ONE(PQgetResult)                \
    ONE(PQresultStatus)             \
    ONE(PQresultErrorField)         \
    ONE(PQcmdStatus)                \
    ONE(PQntuples)                  \
    ONE(PQnfields)                  \
    ONE(PQgetisnull)                \
    ONE(PQgetlength)                \
    ONE(PQgetvalue)                 \
    ONE(PQclear)                    \
    ONE(PQnotifies)

#define SIGNET_LIBPQ_FIELD(NAME) __typeof__(&NAME) NAME;
struct signet_libpq {
    SIGNET_LIBPQ_FUNCTIONS(SIGNET_LIBPQ_FIELD)
};
#undef SIGNET_LIBPQ_FIELD

/// The functions, or null when the library or one of them is not here. It is asked for once a process.
const struct signet_libpq *signet_libpq(void);

/// The fields of an error that are asked for; the header has them as character macros, which Swift does not see.
enum { signet_libpq_sqlstate = PG_DIAG_SQLSTATE };

#endif
