#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The passphrase in a request: bytes that are zeroed before their memory is freed.
///
/// They are in no array, because the copies of an array are freed as they are.
package final class AgentSecret: Sendable {
    /// The number of bytes.
    package let count: Int
    /// The address of the memory, because pointers are not Sendable.
    private let address: UInt

    /// Creates a secret with a copy of some bytes.
    package init(copying bytes: UnsafeRawBufferPointer) {
        count = bytes.count
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
        memory.copyMemory(from: bytes)
        address = UInt(bitPattern: memory.baseAddress)
    }

    deinit {
        guard let memory = UnsafeMutableRawPointer(bitPattern: address) else { return }
        Self.wipe(UnsafeMutableRawBufferPointer(start: memory, count: count))
        memory.deallocate()
    }

    /// Calls `body` with the bytes, which must not be used after the call.
    package func withUnsafeBytes<R, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> R
    ) throws(Failure) -> R {
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count))
    }

    /// Zeroes memory in a way that the optimizer does not remove.
    package static func wipe(_ memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress, !memory.isEmpty else { return }
        #if canImport(Darwin)
        memset_s(start, memory.count, 0, memory.count)
        #else
        explicit_bzero(start, memory.count)
        #endif
    }
}

extension AgentSecret: Hashable {
    /// Compares all bytes, whether the first ones differ or not.
    package static func == (one: AgentSecret, other: AgentSecret) -> Bool {
        guard one.count == other.count else { return false }
        let difference = one.withUnsafeBytes { bytes in
            other.withUnsafeBytes { others in zip(bytes, others).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } }
        }
        return difference == 0
    }

    /// Hashes only the length, so that the hash says nothing about the content.
    package func hash(into hasher: inout Hasher) { hasher.combine(count) }
}

extension AgentSecret: CustomStringConvertible, CustomReflectable {
    /// A text without the content.
    package var description: String { "<secret of \(count) bytes>" }
    /// A mirror without children, so that `dump` shows no content.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
