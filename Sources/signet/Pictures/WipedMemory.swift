#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A block of bytes that is zeroed before it is given back.
///
/// A picture of an enrolment code is the secret in another form, so files and pixels are kept in these. It is a class, and
/// not Sendable: one owner, no silent copies as an array would make them.
final class WipedMemory {
    private let block: UnsafeMutableRawBufferPointer

    /// The number of bytes.
    var count: Int { block.count }

    /// `count` zeros.
    init(count: Int) {
        block = .allocate(byteCount: count, alignment: 16)
        block.initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// A copy of `bytes`, by way of no other copy.
    convenience init(_ bytes: some Collection<UInt8>) {
        self.init(count: bytes.count)
        block.copyBytes(from: bytes)
    }

    deinit {
        Self.wipe(UnsafeMutableRawPointer(block.baseAddress), count: block.count)
        block.deallocate()
    }

    /// Lends the bytes. They must not outlive the call.
    func withBytes<R, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> R
    ) throws(Failure) -> R {
        defer { withExtendedLifetime(self) {} }
        return try body(block)
    }

    /// Zeroes memory in a way the optimiser may not drop; for what a C library lets go of unwiped.
    static func wipe(_ start: UnsafeMutableRawPointer?, count: Int) {
        guard let start, count > 0 else { return }
        #if canImport(Darwin)
        memset_s(start, count, 0, count)
        #else
        explicit_bzero(start, count)
        #endif
    }
}
