import Foundation

/// Zeroed memory of a key derivation, which is wiped before it is freed.
///
/// It is a class and not Sendable: it has one owner, and isn't copied implicitly as an array is.
package final class WorkingMemory {
    /// The first byte, aligned for any integer.
    package let start: UnsafeMutableRawPointer
    /// The number of bytes.
    package let byteCount: Int

    /// Allocates zero bytes; returns nil when the system has not enough memory.
    ///
    /// Swift's own allocation stops the process in this case.
    package init?(byteCount: Int) {
        guard byteCount > 0, let start = calloc(byteCount, 1) else { return nil }
        self.start = start
        self.byteCount = byteCount
    }

    deinit {
        // The optimizer removes other ways to zero memory that is freed next.
        #if os(Linux)
        explicit_bzero(start, byteCount)
        #else
        memset_s(start, byteCount, 0, byteCount)
        #endif
        free(start)
    }
}
