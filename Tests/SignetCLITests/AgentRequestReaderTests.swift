import AgentWire
import NIOCore
import SignetCore
import Testing

@testable import signet

@Suite("The bytes of a request to the agent")
struct AgentRequestReaderTests {
    private static let passphrase = Array("four unrelated words".utf8)

    private static let bytes = AgentRequest(
        version: "0.1.0", home: AgentHome { _ in nil }, operation: AgentRequest.unlocking, arguments: [passphrase]
    ).message.bytes

    /// Reads the message in bytes that arrive in parts.
    private func read(_ parts: [ByteBuffer]) async throws -> AgentRequestReader.Arrived? {
        let (stream, source) = NIOAsyncChannelInboundStream<ByteBuffer>.makeTestingStream()
        for part in parts { source.yield(part) }
        source.finish()
        var iterator = stream.makeAsyncIterator()
        return try await AgentRequestReader.message(from: &iterator)
    }

    @Test(
        "A passphrase is read from parts of any size, and the memory in which they arrived is zeroed", arguments: [1, 3, 5, 1000])
    func zeroesPartsOfRequest(size: Int) async throws {
        let parts = stride(from: 0, to: Self.bytes.count, by: size).map { start in
            ByteBuffer(bytes: Self.bytes[start..<min(start + size, Self.bytes.count)])
        }
        let message = try await read(parts)
        let secret = message?.request?.secret?.withUnsafeBytes { Array($0) }
        #expect(secret == Self.passphrase)
        let left = parts.flatMap { Array($0.readableBytesView) }
        #expect(left == Array(repeating: 0, count: Self.bytes.count))
    }

    @Test(
        "A message that is cut, too long, malformed or followed by other bytes is not read",
        arguments: [
            Array(bytes.dropLast()), bytes + [0], [0, 1, 0, 1], [0, 0, 0, 4, 1, 2, 3, 4], [0, 0],
            [UInt8](repeating: 0xFF, count: 70_000),
        ])
    func refusesBytesOfNoRequest(bytes: [UInt8]) async throws {
        let message = try await read([ByteBuffer(bytes: bytes)])
        #expect(message == nil)
    }

    @Test("A message of another format is read as one, so that its client learns that the versions differ")
    func readsMessageOfOtherFormat() async throws {
        let message = try await read([ByteBuffer(bytes: AgentMessage([Array("signet-agent 2".utf8)]).bytes)])
        let arrived = try #require(message)
        #expect(arrived.request == nil)
    }
}
