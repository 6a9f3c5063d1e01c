#if canImport(Glibc)
import Glibc
#endif

/// Random bytes from the system's random number generator, requested together.
///
/// On Linux, `SystemRandomNumberGenerator` makes a system call for each eight bytes. One call for all of them has the same source, and
/// no random bytes wait in the memory of the process, where a child process would find them too.
package enum RandomBytes {
    /// The maximum number of bytes that `getentropy` returns.
    private static let maxRequest = 256

    /// Returns random bytes.
    package static func next(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            initializedCount = count
            #if canImport(Glibc)
            if (1...maxRequest).contains(count), getentropy(UnsafeMutableRawPointer(buffer.baseAddress), count) == 0 { return }
            #endif
            var generator = SystemRandomNumberGenerator()
            for index in 0..<count { buffer.initializeElement(at: index, to: generator.next()) }
        }
    }
}
