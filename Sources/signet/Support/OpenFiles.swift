#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The limit of open files of this process. Its default is small for the sake of programs that use `select`, but each connection
/// of a server needs a file descriptor.
enum OpenFiles {
    private static let enough: rlim_t = 1 << 20

    /// Raises the limit as far as the system allows. If that fails, the server starts with the lower limit.
    static func allowMost() {
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, enough))
        setrlimit(resource, &limit)
    }
}
