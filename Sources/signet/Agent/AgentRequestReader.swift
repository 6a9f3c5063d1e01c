import AgentWire
import NIOCore

/// Reads the requests of a connection.
///
/// Their bytes are zeroed afterwards, because some have a passphrase.
enum AgentRequestReader {
    /// The parts in which bytes arrive.
    typealias Parts = NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator

    /// A message that has arrived.
    struct Arrived: Sendable, Hashable {
        /// The request; nil for a message of another format.
        let request: AgentRequest?
    }

    /// Reads one message.
    /// - Parameter parts: The parts of the connection, of which those of the message are used up.
    /// - Returns: The message; nil when the connection ends before, and for a message that is too long or malformed, or is followed
    ///   by other bytes before its reply.
    /// - Throws: An error of the connection.
    static func message(from parts: inout sending Parts) async throws -> Arrived? {
        var received = Received()
        while let part = try await parts.next() {
            guard received.take(part) else { return nil }
            guard let length = received.length else { continue }
            guard length <= AgentMessage.maxRequestLength, received.count <= 4 + length else { return nil }
            guard received.count == 4 + length else { continue }
            do throws(AgentRequest.Malformed) {
                return Arrived(request: try received.request(of: length))
            } catch {
                return nil
            }
        }
        return nil
    }

    /// The bytes that have arrived.
    private struct Received {
        private(set) var count = 0
        private var memory: WipedMemory?

        private static let capacity = 4 + AgentMessage.maxRequestLength

        /// Adds bytes, and zeroes the memory in which they arrived; returns false when there are too many.
        mutating func take(_ part: ByteBuffer) -> Bool {
            guard part.readableBytes <= Self.capacity - count else { return false }
            let memory = self.memory ?? WipedMemory(count: Self.capacity)
            let start = count
            part.withUnsafeReadableBytes { arrived in
                memory.withBytes { UnsafeMutableRawBufferPointer(rebasing: $0[start...]).copyMemory(from: arrived) }
                // The connection keeps this memory for what it reads next. Until then it has no other reader.
                WipedMemory.wipe(UnsafeMutableRawPointer(mutating: arrived.baseAddress), count: arrived.count)
            }
            self.memory = memory
            count += part.readableBytes
            return true
        }

        /// The length at the beginning of the message; nil before it has arrived.
        var length: Int? { memory?.withBytes { AgentMessage.length($0.prefix(count)) } }

        /// Reads a message of a length that has arrived.
        func request(of length: Int) throws(AgentRequest.Malformed) -> AgentRequest? {
            guard let memory else { return nil }
            return try memory.withBytes { bytes throws(AgentRequest.Malformed) in
                try AgentRequest(body: UnsafeRawBufferPointer(rebasing: bytes[4..<(4 + length)]))
            }
        }
    }
}
