#if os(Linux)
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// Logins of a client that gets a back-channel logout URI later.
@Suite("A back-channel logout URI after the login", .timeLimit(.minutes(5)))
struct LateBackChannelTests {
    @Test("A client that gets a back-channel logout URI after its login is informed from its next refresh on")
    func refreshJoinsSession() async throws {
        let app = try BackChannelReceiver()
        let kept = CarriedValues()
        try await StateLocation.with(.file) { location in
            try await location.server({ $0.setReceivers([:]) }) { server in
                let session = try await server.session()
                let tokens = try await server.logIn("app", session)
                await kept.set("session", session)
                await kept.set("access", tokens.access)
                await kept.set("refresh", try #require(tokens.refresh))
            }
            try await location.server({ $0.setReceivers(["app": app]) }) { server in
                let (session, access, refresh) = (await kept["session"], await kept["access"], await kept["refresh"])
                let renewed = try Tokens(try await server.refresh(refresh))
                #expect(try await server.isValid(session))
                try await server.logOut(session)
                let claims = try await app.wait(for: 1)[0].claims
                #expect(claims["sub"] == "mira" && claims["sid"] == .string(TokenHash(session).text))
                for token in [access, renewed.access] { #expect(try await server.userInfo(token).status == 401) }
                let again = try await server.refresh(try #require(renewed.refresh))
                #expect(again.error == "invalid_grant")
            }
        }
    }

    @Test(
        "A missing session refuses a refresh only if it ended while the client had a back-channel logout URI",
        arguments: [true, false], [true, false])
    func refreshOutlivesMissingSession(wasInformed: Bool, hasExpired: Bool) async throws {
        let app = try BackChannelReceiver()
        let kept = CarriedValues()
        try await StateLocation.with(.file) { location in
            try await location.server({ $0.setReceivers(wasInformed ? ["app": app] : [:]) }) { server in
                let session = try await server.session()
                let tokens = try await server.logIn("app", session)
                await kept.set("session", session)
                await kept.set("refresh", try #require(tokens.refresh))
                if !hasExpired { try await server.logOut(session) }
            }
            try await location.server({ $0.setReceivers(["app": app]) }) { server in
                let (session, refresh) = (await kept["session"], await kept["refresh"])
                if hasExpired { server.devServer.moveClock(by: .seconds(1801)) }
                #expect(try await !server.isValid(session))
                let reply = try await server.refresh(refresh)
                #expect(wasInformed && !hasExpired ? reply.error == "invalid_grant" : reply.status == 200)
            }
        }
    }
}
#endif
