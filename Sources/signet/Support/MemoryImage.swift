#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The memory of this process, which contains keys.
enum MemoryImage {
    /// Disables core dumps, so that a crash doesn't write keys to a file. If that fails, the program continues nevertheless.
    static func keepOffDisk() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        #else
        setrlimit(RLIMIT_CORE, &none)
        #endif
    }
}
