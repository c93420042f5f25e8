/* A disk that fails, to be loaded before everything else (LD_PRELOAD).
 *
 * WIMBLE_TEST_DISK=KIND:AT:COUNT:ERROR has the calls AT to AT + COUNT - 1 of a kind (`sync`, `write`) fail on the files of
 * SQLite, with this number of an error. A sync that failed is reported as Linux does it: once to everybody who has the file
 * open, and never again. WIMBLE_TEST_TRACE names a file with a line for each failure.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready, fail_sync, fail_write, error_number;
static long from, count, syncs, writes;
/* How often a sync failed, and how many of these failures each open file has reported. */
static int failures, reported[4096];

static void prepare(void) {
    char kind[16];
    const char *plan = getenv("WIMBLE_TEST_DISK");
    if (ready) return;
    ready = 1;
    if (plan && sscanf(plan, "%15[a-z]:%ld:%ld:%d", kind, &from, &count, &error_number) == 4) {
        fail_sync = strcmp(kind, "sync") == 0;
        fail_write = strcmp(kind, "write") == 0;
    }
}

static int is_of_sqlite(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 4) return 0;
    path[length] = 0;
    return strcmp(path + length - 4, "-wal") == 0 || strcmp(path + length - 3, ".db") == 0;
}

static void trace(const char *line) {
    const char *path = getenv("WIMBLE_TEST_TRACE");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0666) : -1;
    if (fd < 0) return;
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (real(fd, line, strlen(line)) < 0) abort();
    close(fd);
}

static int due(int wanted, long *calls) {
    if (!wanted) return 0;
    ++*calls;
    return *calls >= from && *calls < from + count;
}

static int sync_fails(int fd) {
    int fails = 0;
    pthread_mutex_lock(&lock);
    prepare();
    if (fail_sync && fd >= 0 && fd < 4096 && is_of_sqlite(fd)) {
        if (due(fail_sync, &syncs)) ++failures;
        fails = reported[fd] < failures;
        reported[fd] = failures;
        if (fails) trace("F\n");
    }
    pthread_mutex_unlock(&lock);
    if (fails) errno = error_number;
    return fails;
}

static int write_fails(int fd) {
    int fails;
    pthread_mutex_lock(&lock);
    prepare();
    fails = fail_write && is_of_sqlite(fd) && due(fail_write, &writes);
    if (fails) trace("W\n");
    pthread_mutex_unlock(&lock);
    if (fails) errno = error_number;
    return fails;
}

int fdatasync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
    return sync_fails(fd) ? -1 : real(fd);
}

int fsync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    return sync_fails(fd) ? -1 : real(fd);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    return write_fails(fd) ? -1 : real(fd, bytes, length);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
    return write_fails(fd) ? -1 : real(fd, bytes, length, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    return write_fails(fd) ? -1 : real(fd, bytes, length, at);
}
