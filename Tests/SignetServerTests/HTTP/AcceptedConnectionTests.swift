import Logging
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import SignetServer

@Suite("A connection that a server accepts while it stops")
struct AcceptedConnectionTests {
    @Test("A connection that is accepted and never handled is closed", arguments: [true, false])
    func closesUnhandledConnection(isDroppedFirst: Bool) async throws {
        try await StateLocation.with(.memory) { location in
            let channel = NIOAsyncTestingChannel()
            let server = DevServer(configuration: location.configuration, logger: .silent)
            let setup = try server.context.channel { _, _, _ in }
            let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
            var connection: AcceptedConnection? = try await channel.testingEventLoop.executeInContext {
                setup.setup(channel: channel, logger: .silent)
            }.get()
            let accepted = connection?.channel
            #expect(accepted === channel)
            if isDroppedFirst { connection = nil }
            // The connection may be closed already.
            try? await channel.connect(to: address)
            connection = nil
            try await channel.closeFuture.get()
        }
    }
}
