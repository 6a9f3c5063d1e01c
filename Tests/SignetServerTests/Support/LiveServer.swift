import Foundation
import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

extension TestServer {
    /// Runs the server on a socket as well and passes its port to `body`.
    ///
    /// The server has stopped when this returns. The configuration requires port 0, because another program may occupy any fixed
    /// port.
    func serve(_ body: (_ port: Int) async throws -> Void) async throws {
        try #require(devServer.context.configuration.port == 0, "the configuration of a test needs port 0")
        try await devServer.serve { _ in try await body(try Endpoint(devServer.context.localURL).port) }
    }

    /// A nonce of the push stream.
    func nonce(realm: String = "") async throws -> String {
        let reply = try await send(.get, "/am/json\(realm)/push/stream", headers: [:])
        let challenge = try #require(reply.header("WWW-Authenticate"))
        #expect(reply.status == 401)
        #expect(challenge.hasPrefix("Signet-Push-Stream nonce=\"") && challenge.hasSuffix("\""))
        return String(challenge.dropFirst("Signet-Push-Stream nonce=\"".count).dropLast())
    }

    /// Returns the number of open streams of a mechanism.
    func streamCount(_ mechanismUID: String) -> Int {
        devServer.context.streams.count(mechanismUID)
    }
}

extension Phone {
    func proof(_ nonce: String, secret: Secret? = nil, uid: String? = nil) -> String {
        CompactJWS.sign(JSON.encode(PushStreamProof(mechanismUid: uid ?? self.uid, nonce: nonce)), with: secret ?? self.secret)
    }

    /// Opens a stream over a socket.
    func listen(at server: TestServer, port: Int, after last: String? = nil) async throws -> RawHTTPConnection {
        let connection = try RawHTTPConnection(port: port)
        var lines = [
            "GET /am/json/push/stream HTTP/1.1", "Host: 127.0.0.1",
            "Authorization: Signet-Push-Stream \(proof(try await server.nonce()))",
        ]
        if let last { lines.append("Last-Event-ID: \(last)") }
        connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        return connection
    }
}

/// A plain TCP connection that reads an answer in chunks as bytes arrive, which the test client of Hummingbird does not.
struct RawHTTPConnection: Sendable {
    private let socket: ClientSocket
    private let pieces: AsyncStream<[UInt8]>

    init(port: Int) throws {
        // The timeout is long because the server may be delayed on a busy machine.
        let socket = try ClientSocket(port: port, timeout: 120)
        self.socket = socket
        let (pieces, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        self.pieces = pieces
        Thread.detachNewThread {
            while let piece = socket.bytes(), !piece.isEmpty { continuation.yield(piece) }
            continuation.finish()
        }
    }

    func send(_ text: String) { socket.send(text) }

    func send(_ bytes: [UInt8]) { socket.send(bytes) }

    /// Closes the sending side and continues to receive.
    func endSending() { socket.endSending() }

    /// Closes the connection without notice, as a killed process does.
    func vanish() { socket.close() }

    /// Reads until the received text satisfies `condition` or the server has ended the connection.
    func read(until condition: (String) -> Bool) async -> String {
        var text = ""
        for await piece in pieces {
            text += String(decoding: piece, as: UTF8.self)
            if condition(text) { break }
        }
        return text
    }

    /// Reads the next `count` events with messages.
    func events(_ count: Int) async throws -> [ServerSentEvent] {
        var found: [ServerSentEvent] = []
        _ = await read { text in
            found = Self.events(in: text).filter { $0.name == PushStreamProof.eventName }
            return found.count >= count
        }
        return found
    }

    /// Reads until the server lists the waiting messages.
    /// - Returns: The ids in the list, and the events that came before it.
    func waitingList() async throws -> (ids: Set<String>, earlier: [ServerSentEvent]) {
        var found: [ServerSentEvent] = []
        _ = await read { text in
            found = Self.events(in: text)
            return found.contains { $0.name == WaitingPushMessages.eventName }
        }
        let lists = found.indices.filter { found[$0].name == WaitingPushMessages.eventName }
        let index = try #require(lists.first)
        #expect(found[index].id == nil)
        return (try JSON.decode(WaitingPushMessages.self, from: found[index].data.utf8).messageIDs, Array(found[..<index]))
    }

    /// Returns the events in an answer, without its head and chunk sizes.
    static func events(in text: String) -> [ServerSentEvent] {
        let body = text.hasPrefix("HTTP/") ? text[(text.firstRange(of: "\r\n\r\n")?.upperBound ?? text.endIndex)...] : text[...]
        let lines = body.split(separator: "\r\n", omittingEmptySubsequences: false).filter { Int($0, radix: 16) == nil }
        var parser = ServerSentEvent.Parser()
        return (try? parser.feed(lines.joined().utf8)) ?? []
    }
}
