import Foundation

/// A block of bytes that is zeroed before it is deallocated.
///
/// A picture of an enrollment code contains the secret, so files and pixels are kept in such blocks. It is a class and not
/// Sendable: it has one owner, and isn't copied implicitly as an array is.
final class WipedMemory {
    private let block: UnsafeMutableRawBufferPointer

    /// The number of bytes.
    var count: Int { block.count }

    /// Allocates `count` zero bytes.
    init(count: Int) {
        block = .allocate(byteCount: count, alignment: 16)
        block.initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// Copies `bytes` without an intermediate copy.
    convenience init(_ bytes: some Collection<UInt8>) {
        self.init(count: bytes.count)
        block.copyBytes(from: bytes)
    }

    deinit {
        Self.wipe(UnsafeMutableRawPointer(block.baseAddress), count: block.count)
        block.deallocate()
    }

    /// Calls `body` with the bytes, which must not be used after the call.
    func withBytes<R, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> R
    ) throws(Failure) -> R {
        defer { withExtendedLifetime(self) {} }
        return try body(block)
    }

    /// Zeroes memory in a way that the optimizer doesn't remove.
    ///
    /// It is also for memory that a C library frees without wiping.
    static func wipe(_ start: UnsafeMutableRawPointer?, count: Int) {
        guard let start, count > 0 else { return }
        #if canImport(Darwin)
        memset_s(start, count, 0, count)
        #else
        explicit_bzero(start, count)
        #endif
    }
}
